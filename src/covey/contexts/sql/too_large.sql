-- What must be kept is by itself larger than the bound, or no longer.
UPDATE contexts SET too_large = :why, too_large_at = :at WHERE agent = :agent
