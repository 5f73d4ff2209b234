-- The open incidents of agents, oldest first.
SELECT id, agent, kind, subject, cause, opened_at FROM incidents
 WHERE ended_at IS NULL AND agent >= :low AND agent <= :high ORDER BY agent, seq
