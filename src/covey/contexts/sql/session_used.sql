-- A session was worked in; how full it is.
UPDATE contexts SET session_fresh = 0, session_tokens = :tokens, session_limit = :most WHERE agent = :agent AND session = :session
   AND (session_fresh = 1 OR session_tokens IS DISTINCT FROM :tokens OR session_limit IS DISTINCT FROM :most)
