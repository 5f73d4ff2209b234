-- Why a thread is paused, if it is.
SELECT reason FROM thread_pauses WHERE thread_id = :thread_id
