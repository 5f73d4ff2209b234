-- From now on this agent is covered by that one.
INSERT INTO coverings (agent, buddy, since, why) VALUES (:agent, :buddy, :now, :why)
ON CONFLICT (agent) DO UPDATE SET buddy = excluded.buddy
