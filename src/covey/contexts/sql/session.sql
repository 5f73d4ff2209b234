-- The session that an agent's brain is to work in.
SELECT session, session_fresh FROM contexts WHERE agent = :agent
