-- Lead, or go on leading: whoever holds the lease renews it, a lapsed one is taken with the next fencing token.
INSERT INTO leaders (role, holder, fence, until) VALUES (:role, :holder, 1, :until)
ON CONFLICT (role) DO UPDATE SET
  fence = leaders.fence + CASE WHEN leaders.holder = excluded.holder AND leaders.until > :now THEN 0 ELSE 1 END,
  holder = excluded.holder, until = excluded.until
  WHERE leaders.holder = excluded.holder OR leaders.until <= :now
RETURNING fence
