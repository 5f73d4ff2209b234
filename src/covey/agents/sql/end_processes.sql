-- No process is anybody's.
UPDATE vitals SET node = NULL, pid = NULL, start_ticks = NULL, boot_id = NULL
