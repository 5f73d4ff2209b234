-- The check that an agent last made of the one it watches.
SELECT checker, checked, at, done_by, outcome, reason, unreachable, look_at, made, answered, missed_in_a_row
  FROM buddy_checks WHERE checker = :checker
