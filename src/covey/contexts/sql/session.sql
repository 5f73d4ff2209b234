-- The session that an agent's brain is to work in, and how full it was.
SELECT session, session_fresh, session_tokens, session_limit FROM contexts WHERE agent = :agent
