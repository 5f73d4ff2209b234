-- What is recorded of every agent's life.
SELECT agent, node, pid, start_ticks, boot_id, started_at, heartbeat_at, seen_at, last_active_at, last_digest_at, last_buddy_check, tasks_completed, tasks_failed, task_seconds, messages_handled, stall_count, restarts, failures_in_a_row
  FROM vitals
