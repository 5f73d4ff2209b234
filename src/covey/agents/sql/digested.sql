-- An agent's quiet mail has been handed to it.
UPDATE vitals SET last_digest_at = :now WHERE agent = :agent
