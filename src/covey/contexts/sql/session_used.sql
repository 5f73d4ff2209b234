-- A session was worked in; how full it is.
UPDATE contexts SET session_fresh = 0, session_tokens = :tokens, session_limit = :most WHERE agent = :agent AND session = :session
