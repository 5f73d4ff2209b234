"""Traces for OpenTelemetry. Nothing here is imported by a fleet that sends none."""
