-- Make an archived entry findable by its words.
/*sqlite*/INSERT OR REPLACE INTO entry_words (rowid, words) VALUES (:seq, :text)/*end*/
/*postgres:INSERT INTO entry_words (rowid, words) VALUES (:seq, :words) ON CONFLICT (rowid) DO NOTHING*/
