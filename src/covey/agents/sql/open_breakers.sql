-- The breakers that are not closed.
SELECT agent, failures, first_item, varied, openings, opened_at, until, reason, trial FROM breakers WHERE opened_at IS NOT NULL ORDER BY agent
