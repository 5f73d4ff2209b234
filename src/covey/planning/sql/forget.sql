-- What no budget counts any more.
DELETE FROM generated WHERE at <= :before
