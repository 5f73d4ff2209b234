-- How much mail is with brains and waits for credit, and how many handoffs and votes are open; of each so many at most.
SELECT (SELECT count(*) FROM (SELECT 1 AS one FROM copies WHERE state = 'seen' LIMIT :limit) AS seen) AS at_work,
       (SELECT count(*) FROM (SELECT 1 AS one FROM copies WHERE state = 'deferred' LIMIT :limit) AS deferred) AS deferred,
       (SELECT count(*) FROM (SELECT 1 AS one FROM handoffs WHERE state = 'offered' LIMIT :limit) AS offered) AS handoffs,
       (SELECT count(*) FROM (SELECT 1 AS one FROM votes WHERE state <> 'closed' LIMIT :limit) AS open) AS votes
