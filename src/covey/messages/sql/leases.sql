-- Every lease on mail.
SELECT DISTINCT token FROM copies WHERE state = 'seen' AND token IS NOT NULL ORDER BY token
