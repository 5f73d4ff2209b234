-- The sign-ins that hold, the youngest first; nothing of their secrets.
SELECT s.began_at, s.ends_at FROM sign_ins s JOIN tokens t ON t.name = :name AND t.hash = s.token_hash
 WHERE s.ends_at > :now ORDER BY s.began_at DESC LIMIT :limit
