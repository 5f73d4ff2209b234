-- An offer is made.
INSERT INTO handoffs (id, task_id, giver, receiver, offered_by, state, package, path, returns, waited_for, offered_at, deadline)
VALUES (:id, :task_id, :giver, :receiver, :offered_by, 'offered', :package, :path, :returns, :waited_for, :now, :deadline)
