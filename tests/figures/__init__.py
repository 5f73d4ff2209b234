"""Tests of figures over time."""
