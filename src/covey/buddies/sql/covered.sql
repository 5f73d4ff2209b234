-- Who covers for this agent.
SELECT agent, buddy, since, why FROM coverings WHERE agent = :agent
