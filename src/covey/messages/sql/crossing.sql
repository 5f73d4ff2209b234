-- All that decides whether a message may go from one agent to another: their link, what is left, its thread, what waits for credit.
SELECT a.id AS sender, a.owner AS sender_owner, a.organisation AS sender_organisation, a.removed_at AS sender_removed_at,
       b.id AS receiver, b.owner AS receiver_owner, b.organisation AS receiver_organisation, b.removed_at AS receiver_removed_at,
       f.value AS policy, l.messages, l.hours, l.debounce_s, l.limited, l.enabled, l.feature, l.one_endpoint, l.other_endpoint, l.implied, l.version,
       l.created_at, l.created_by, l.removed_at, l.removed_why,
       s.credits, s.reset_at, s.began_at, s.last_at, s.last_run, s.recent,
       b.paused_at, b.stopped_at, p.reason AS paused_why,
       t.sender AS last_sender, t.addressed AS last_addressed, t.turns AS last_turns, t.requires_response AS last_required,
       (SELECT count(*) FROM copies WHERE sender = :sender AND receiver = :receiver AND state = 'deferred') AS waiting
  FROM agents a
  JOIN agents b ON b.id = :receiver
  LEFT JOIN links l ON l.id = :link_id
  LEFT JOIN peer_states s ON s.link_id = :link_id AND s.channel = 'dm' AND s.sender = :sender
  LEFT JOIN facts f ON f.name = 'links'
  LEFT JOIN thread_pauses p ON p.thread_id = :thread_id
  LEFT JOIN messages t ON t.seq = (SELECT max(seq) FROM messages WHERE thread_id = :thread_id)
 WHERE a.id = :sender
