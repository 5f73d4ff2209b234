-- Open tasks, agent by agent, each with what it still needs.
SELECT t.id, substr(t.description, 1, 300) AS description, t.state, t.queue, t.agent, t.holder, t.capability, t.priority, t.not_urgent, t.sort_key, t.seq,
       t.not_before, t.project_id, t.origin, t.created_by, t.created_at, t.deadline, t.claimed_at, t.started_at, t.estimated_s, t.attempts, t.approval,
       t.waiting_for, t.parent_id,
       (SELECT /*sqlite*/group_concat(n.needs_id, ' ')/*end*//*postgres:string_agg(n.needs_id, ' ')*/
          FROM needs n WHERE n.task_id = t.id AND n.met_at IS NULL) AS needs
  FROM tasks t WHERE t.state IN ('queued', 'blocked', 'running') ORDER BY t.agent, t.seq LIMIT :limit
