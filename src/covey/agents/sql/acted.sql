-- An agent finished something; whether failures went before.
UPDATE vitals
   SET tasks_completed = tasks_completed + :tasks, task_seconds = task_seconds + :task_s, messages_handled = messages_handled + :messages,
       last_active_at = :now, failures_in_a_row = 0
 WHERE agent = :agent
RETURNING (SELECT failures FROM breakers WHERE breakers.agent = vitals.agent) AS streak
