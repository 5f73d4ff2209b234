-- A machine is short of something.
INSERT INTO pressures (node, at, why) VALUES (:node, :now, :why) ON CONFLICT (node) DO UPDATE SET why = excluded.why
