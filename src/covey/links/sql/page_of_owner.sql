-- Links of an owner's agents, by id.
SELECT l.id, l.one, l.other, l.messages, l.hours, l.debounce_s, l.limited, l.enabled, l.feature, l.one_endpoint, l.other_endpoint, l.implied,
       l.version, l.created_at, l.created_by, l.removed_at, l.removed_why
  FROM links l JOIN agents a ON a.id = l.one JOIN agents b ON b.id = l.other
 WHERE l.id > :after AND (a.owner = :owner OR b.owner = :owner) ORDER BY l.id LIMIT :limit
