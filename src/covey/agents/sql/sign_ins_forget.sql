-- Forget the sign-ins that have ended.
DELETE FROM sign_ins WHERE ends_at <= :now
