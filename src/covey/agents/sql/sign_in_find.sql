-- The sign-in with this hash, if it has not ended and the token that opened it is still its holder's.
SELECT s.hash, s.began_at, s.ends_at FROM sign_ins s JOIN tokens t ON t.name = :name AND t.hash = s.token_hash
 WHERE s.hash = :hash AND s.ends_at > :now
