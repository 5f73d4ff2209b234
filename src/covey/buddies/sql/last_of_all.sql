-- The check that each agent of a range of names last made.
SELECT checker, checked, at, done_by, outcome, reason, unreachable, look_at, made, answered, missed_in_a_row FROM buddy_checks
 WHERE checker >= :low AND checker <= :high
