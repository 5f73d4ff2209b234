-- Store time steps forward; on PostgreSQL it is the server's.
UPDATE clock SET ahead = ahead + :seconds WHERE id = 1 /*postgres: AND false*/
