-- The process of an agent has ended; a later one is not touched.
UPDATE vitals SET pid = NULL, start_ticks = NULL WHERE agent = :agent AND pid = :pid
