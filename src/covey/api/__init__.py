"""The HTTP doors: each agent's own port, and the fleet's. A handler decodes, calls one verb, encodes; one table lists them all."""
