-- Open tasks by the agent that made them, so that each may have so many at most. The version before goes on beside it.

CREATE INDEX tasks_made ON tasks (created_by) WHERE origin = 'agent' AND state IN ('queued', 'blocked', 'running');
