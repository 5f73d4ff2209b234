-- How many tasks of each project stand in each state.
SELECT project_id, state, count(*) AS tasks FROM tasks WHERE project_id IS NOT NULL GROUP BY project_id, state
