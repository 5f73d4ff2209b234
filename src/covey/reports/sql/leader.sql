-- Who leads the fleet, until when, and when it last went through its cycle.
SELECT holder, until, cycle, cycled_at FROM leaders WHERE role = 'controller'
