-- Agents may send in this thread again.
DELETE FROM thread_pauses WHERE thread_id = :thread_id
