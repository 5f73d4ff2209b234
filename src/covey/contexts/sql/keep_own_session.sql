-- The id by which an agent's brain knows its session, in place of the last one's.
INSERT INTO own_sessions (agent, lane, session, own, at) VALUES (:agent, :lane, :session, :own, :at)
    ON CONFLICT (agent, lane) DO UPDATE SET session = excluded.session, own = excluded.own, at = excluded.at
