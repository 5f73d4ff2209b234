-- The next turn starts a session afresh.
UPDATE contexts SET session = session + 1, session_fresh = 1, session_tokens = :tokens, session_limit = :most WHERE agent = :agent AND session = :session
