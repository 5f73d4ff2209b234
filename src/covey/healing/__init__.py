"""Healing: what is wrong with an agent, what is done about it, and the story of it. Decisions are pure functions of recorded facts."""
