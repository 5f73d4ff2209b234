-- The agents with an open incident of a kind.
SELECT agent FROM incidents WHERE kind = :kind AND ended_at IS NULL ORDER BY agent LIMIT :limit
