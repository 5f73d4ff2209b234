"""The console: pages for the person who runs the fleet. A door: it decodes, calls one verb, shows. No rule and no SQL stands here."""
