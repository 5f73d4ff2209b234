-- The breaker of an agent.
SELECT agent, failures, first_item, varied, opened_at, until, reason, trial FROM breakers WHERE agent = :agent
