"""The parts put together: a store is opened, agents are hosted, a node runs, a fleet is started and stopped."""
