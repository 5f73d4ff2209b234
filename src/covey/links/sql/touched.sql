-- The links of an agent that stand, with what their ends are now.
SELECT l.id, l.one, l.other, l.messages, l.hours, l.debounce_s, l.limited, l.enabled, l.feature, l.one_endpoint, l.other_endpoint, l.implied,
       l.version, l.created_at, l.created_by, l.removed_at, l.removed_why, a.owner AS one_owner, a.organisation AS one_organisation,
       b.owner AS other_owner, b.organisation AS other_organisation
  FROM links l JOIN agents a ON a.id = l.one JOIN agents b ON b.id = l.other
 WHERE l.removed_at IS NULL AND l.id IN (SELECT id FROM links WHERE one = :agent UNION SELECT id FROM links WHERE other = :agent) ORDER BY l.id
