-- Who leads.
SELECT holder, fence, until, cycle, cycled_at FROM leaders WHERE role = :role
