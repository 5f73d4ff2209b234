-- Nobody has anything of an agent any more.
DELETE FROM lent_tasks WHERE owner = :owner
