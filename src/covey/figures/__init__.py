"""Figures over time: the events added up by agent and stretch of time, so that a week is read as fast as a quarter of an hour."""
