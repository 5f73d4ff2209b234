-- Open runs that somebody must look at: it is time, or a task of theirs ended and nobody noticed.
SELECT id FROM team_runs WHERE ended_at IS NULL AND look_at <= :now
UNION ALL
SELECT s.run_id FROM team_steps s JOIN tasks t ON t.id = s.task_id WHERE s.state = 'out' AND t.state IN ('done', 'failed', 'cancelled')
LIMIT :limit
