-- The breaker of an agent.
SELECT agent, failures, first_item, varied, openings, opened_at, until, reason, trial FROM breakers WHERE agent = :agent
