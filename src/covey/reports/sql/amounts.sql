-- How many rows there are of each kind that an export writes.
SELECT (SELECT count(*) FROM messages) AS messages, (SELECT count(*) FROM tasks) AS tasks, (SELECT count(*) FROM entries) AS entries,
       (SELECT count(*) FROM links) AS links, (SELECT count(*) FROM runs) AS runs, (SELECT count(*) FROM events) AS events,
       (SELECT count(*) FROM incidents) AS incidents, (SELECT count(*) FROM votes) AS votes,
       (SELECT count(*) FROM handoffs) AS handoffs, (SELECT count(*) FROM team_runs) AS teams
