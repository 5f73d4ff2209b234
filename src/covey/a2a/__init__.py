"""The A2A door: other systems' agents give work to ours, and follow it. Only the gateway imports it, since its package is heavy."""
