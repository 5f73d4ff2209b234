-- Some who play a role, by what their own role begins with.
SELECT id FROM agents
 WHERE removed_at IS NULL AND lower(role) /*postgres: COLLATE "C"*/ >= :low AND lower(role) /*postgres: COLLATE "C"*/ < :high
   AND paused_at IS NULL AND stopped_at IS NULL AND id <> :agent
 ORDER BY lower(role) /*postgres: COLLATE "C"*/ LIMIT :limit
