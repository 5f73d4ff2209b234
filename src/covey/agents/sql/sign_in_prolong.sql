-- Let a sign-in end later.
UPDATE sign_ins SET ends_at = :ends_at WHERE hash = :hash AND ends_at > :now
