-- Remember a new sign-in.
INSERT INTO sign_ins (hash, token_hash, began_at, ends_at) VALUES (:hash, :token_hash, :now, :ends_at)
