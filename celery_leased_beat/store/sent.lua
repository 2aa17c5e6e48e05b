#!lua
-- This listener's message is enqueued: it is recorded, and never sent again for this envelope.
--
-- KEYS     1 fan-out record
-- ARGV     1 the listener's name, 2 the record's life in ms
-- Returns  TIME
-- Keeps    the record ends by itself

local time = redis.call('TIME')
redis.call('HSET', KEYS[1], 'sent:' .. ARGV[1], time[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return {time[1], time[2]}
