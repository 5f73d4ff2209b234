-- What is known of an agent's context as a whole.
SELECT version, compressed_to, compressed_at, tidied_at, cold_entries, cold_since, emergencies, told_at, too_large_at, too_large, session, session_fresh, session_tokens, session_limit
  FROM contexts WHERE agent = :agent
