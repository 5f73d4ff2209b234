-- What a machine is short of, if it is.
SELECT why FROM pressures WHERE node = :node
