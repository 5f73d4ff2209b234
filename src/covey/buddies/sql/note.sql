-- What came of an agent's check of the one it watches; `hourly` is 0 if it was but a look between two checks, which counts in no figure.
INSERT INTO buddy_checks (checker, checked, at, done_by, outcome, reason, unreachable, look_at, made, answered, missed_in_a_row)
VALUES (:checker, :checked, :now, :done_by, :outcome, :reason, :unreachable, :look_at, :hourly, :answered, :missed)
ON CONFLICT (checker) DO UPDATE SET
  checked = excluded.checked, at = excluded.at, done_by = excluded.done_by, outcome = excluded.outcome, reason = excluded.reason,
  unreachable = excluded.unreachable, look_at = excluded.look_at, made = buddy_checks.made + excluded.made,
  answered = buddy_checks.answered + excluded.answered,
  missed_in_a_row = CASE WHEN excluded.outcome = 'answered' THEN 0
                         WHEN buddy_checks.checked <> excluded.checked THEN excluded.missed_in_a_row
                         ELSE buddy_checks.missed_in_a_row + excluded.missed_in_a_row END
