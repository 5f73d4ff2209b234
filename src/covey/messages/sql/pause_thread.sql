-- No agent sends in this thread until the operator resumes it.
INSERT INTO thread_pauses (thread_id, at, reason) VALUES (:thread_id, :now, :reason) ON CONFLICT (thread_id) DO NOTHING
