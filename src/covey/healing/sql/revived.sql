-- The agents that were silent, and beat again.
SELECT i.agent FROM incidents i JOIN vitals v ON v.agent = i.agent
 WHERE i.ended_at IS NULL AND i.kind = 'heartbeat_stale' AND v.heartbeat_at > i.opened_at ORDER BY i.agent
