-- Handoffs, newest first: all, or those of one task, of one agent on either side, in one state.
SELECT seq, id, task_id, giver, receiver, offered_by, state, package, path, returns, waited_for, awaits_run, offered_at, deadline, ended_at, ended_by, why
  FROM handoffs
 WHERE seq < :before AND (:task_id = '' OR task_id = :task_id) AND (:state = '' OR state = :state)
   AND (:agent = '' OR giver = :agent OR receiver = :agent)
 ORDER BY seq DESC LIMIT :limit
