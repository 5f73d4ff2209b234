-- A slot is done; the next one waits.
UPDATE schedules SET next_at = :next_at, last_slot = :slot, last_task = :task WHERE name = :name
