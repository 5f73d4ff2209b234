-- Exchanges of one agent, the latest change first, with what they are counted and sought by.
WITH shown AS (
  SELECT x.seq, x.task_id,
         COALESCE(t.finished_at, (SELECT e.at FROM events e WHERE e.subject = x.task_id ORDER BY e.seq DESC LIMIT 1), x.created_at) AS changed_at,
         CASE t.state
           WHEN 'running' THEN 'working'
           WHEN 'done' THEN 'completed'
           WHEN 'failed' THEN 'failed'
           WHEN 'cancelled' THEN 'canceled'
           WHEN 'queued' THEN CASE WHEN t.attempts > 0 THEN 'working' ELSE 'submitted' END
           ELSE CASE WHEN EXISTS (SELECT 1 FROM copies c WHERE c.message_id = t.waiting_for AND c.receiver = x.caller AND c.answered_by IS NULL)
                THEN 'input-required' ELSE 'working' END
         END AS phase
    FROM exchanges x JOIN tasks t ON t.id = x.task_id
   WHERE x.agent = :agent AND (:caller = '' OR x.caller = :caller) AND (:thread_id = '' OR x.thread_id = :thread_id)
)
SELECT seq, task_id, changed_at, phase, (SELECT COUNT(*) FROM shown WHERE (:phase = '' OR phase = :phase) AND changed_at >= :since) AS total
  FROM shown
 WHERE (:phase = '' OR phase = :phase) AND changed_at >= :since AND (changed_at < :before OR (changed_at = :before AND seq < :before_seq))
 ORDER BY changed_at DESC, seq DESC LIMIT :limit
