"""The file doors: the seeds' JSON tree and log tree, the drop folder, import and export. No rules and no SQL in them."""
