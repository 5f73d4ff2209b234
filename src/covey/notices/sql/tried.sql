-- It was tried in vain.
INSERT INTO notice_tries (channel, tries, retry_at, said) VALUES (:channel, :tries, :retry_at, :said)
ON CONFLICT (channel) DO UPDATE SET tries = excluded.tries, retry_at = excluded.retry_at, said = excluded.said
