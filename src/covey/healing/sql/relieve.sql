-- A machine is short of nothing any more.
DELETE FROM pressures WHERE node = :node
