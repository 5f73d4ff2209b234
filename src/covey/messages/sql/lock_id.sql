-- Nobody else stores anything under this id before the commit.
SELECT 1 AS locked /*postgres:, pg_advisory_xact_lock(hashtextextended(:id, 0))*/
