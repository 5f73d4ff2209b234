"""What idle agents are given to do: templates, the choice among them, the budgets of a day, a planner's proposals (P)."""
