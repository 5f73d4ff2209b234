-- Whether any agent may be down, or is covered: if neither, there is nothing to do.
SELECT CASE WHEN EXISTS (SELECT 1 FROM coverings)
              OR EXISTS (SELECT 1 FROM buddy_checks WHERE unreachable = 1 AND missed_in_a_row >= 2)
              OR EXISTS (SELECT 1 FROM agents a JOIN vitals v ON v.agent = a.id
                          WHERE a.removed_at IS NULL AND (a.failed_at IS NOT NULL OR (v.started_at IS NOT NULL AND v.heartbeat_at < :before)))
            THEN 1 ELSE 0 END AS troubled
