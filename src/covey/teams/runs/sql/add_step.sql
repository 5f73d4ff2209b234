-- Add a step.
INSERT INTO team_steps (run_id, place, kind, description, capabilities, wanted, needs, state)
VALUES (:run_id, :place, :kind, :description, :capabilities, :wanted, :needs, 'waiting')
