-- Remember how far a reader has got.
INSERT INTO bookmarks (name, xid, seq) VALUES (:name, :xid, :seq) ON CONFLICT (name) DO UPDATE SET xid = excluded.xid, seq = excluded.seq
