-- Add agents or change what they are; flags stay, a removed one comes back.
INSERT INTO agents (id, place, role, host, port, buddy, owner, organisation, brain, capabilities, settings, created_at)
SELECT a.value ->> 'id', CAST(a.value ->> 'place' AS BIGINT), a.value ->> 'role', a.value ->> 'host', CAST(a.value ->> 'port' AS BIGINT),
       a.value ->> 'buddy', a.value ->> 'owner', a.value ->> 'organisation', a.value ->> 'brain', a.value ->> 'capabilities',
       a.value ->> 'settings', :now
  FROM /*sqlite*/json_each(:agents) a/*end*/ /*postgres: jsonb_array_elements(:agents::jsonb) AS a (value)*/
 WHERE true
ON CONFLICT (id) DO UPDATE SET
  place = excluded.place, role = excluded.role, host = excluded.host, port = excluded.port, buddy = excluded.buddy, owner = excluded.owner,
  organisation = excluded.organisation, brain = excluded.brain, capabilities = excluded.capabilities, settings = excluded.settings, removed_at = NULL
