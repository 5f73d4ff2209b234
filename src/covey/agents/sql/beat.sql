-- A heartbeat of the process that is this agent.
UPDATE vitals SET heartbeat_at = :now WHERE agent = :agent AND pid = :pid
