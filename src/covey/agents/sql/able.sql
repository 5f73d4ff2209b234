-- The agents that take work from a queue, in the fleet's order.
SELECT a.id, a.place, a.role, a.host, a.port, a.buddy, a.owner, a.organisation, a.brain, a.capabilities, a.settings, a.created_at, a.removed_at,
       a.paused_at, a.stopped_at, a.flag_reason, a.failed_at, a.failed_reason
  FROM agent_queues q JOIN agents a ON a.id = q.agent WHERE q.queue = :queue AND a.removed_at IS NULL ORDER BY a.place
