-- A reader has got further, unless it does not stand any more where it thinks it does.
INSERT INTO bookmarks (name, xid, seq) VALUES (:name, :xid, :seq)
ON CONFLICT (name) DO UPDATE SET xid = excluded.xid, seq = excluded.seq WHERE bookmarks.xid = :from_xid AND bookmarks.seq = :from_seq
