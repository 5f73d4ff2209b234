-- Forget a sign-in.
DELETE FROM sign_ins WHERE hash = :hash
