-- Forget every sign-in.
DELETE FROM sign_ins
