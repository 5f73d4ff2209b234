-- An agent that has done nothing here yet goes on from its counts elsewhere.
UPDATE vitals
   SET tasks_completed = :completed, tasks_failed = :failed, task_seconds = :seconds, messages_handled = :handled, stall_count = :stalls,
       last_active_at = coalesce(last_active_at, :last_active_at)
 WHERE agent = :agent AND tasks_completed = 0 AND tasks_failed = 0 AND messages_handled = 0
