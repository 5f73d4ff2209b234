-- Make a message findable by its words.
/*sqlite*/INSERT OR REPLACE INTO message_words (rowid, subject, body) VALUES (:seq, :subject, :body)/*end*/
/*postgres:INSERT INTO message_words (rowid, words) VALUES (:seq, :words) ON CONFLICT (rowid) DO NOTHING*/
