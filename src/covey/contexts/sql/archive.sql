-- An entry leaves the live context; its text stays, packed, and what stands for it is named.
UPDATE entries SET archived_at = :now, text = :text, packed = :packed, shown_in = :shown_in WHERE id = :id AND archived_at IS NULL
