-- The agent is paused; it stays stopped if it is.
UPDATE agents SET paused_at = coalesce(paused_at, :now), flag_reason = :reason WHERE id = :id
