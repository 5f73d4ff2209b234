-- What the last look at an idle agent came to.
SELECT at, next_at, why, made FROM plannings WHERE agent = :agent
