-- The id by which an agent's brain knows its session of this number, and until when that session knows what happened.
SELECT own, at FROM own_sessions WHERE agent = :agent AND lane = :lane AND session = :session
