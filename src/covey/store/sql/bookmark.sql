-- How far a reader has got.
SELECT xid, seq FROM bookmarks WHERE name = :name
