-- Make a message findable.
/*sqlite*/INSERT OR REPLACE INTO message_words (rowid, subject, body) VALUES (:seq, :subject, :body)/*end*/
/*postgres:INSERT INTO message_words (rowid, words) VALUES (:seq, to_tsvector('simple', left(:subject || ' ' || :body, 200000))) ON CONFLICT (rowid) DO NOTHING*/
