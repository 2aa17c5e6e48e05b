#!lua
-- Which fires were claimed and not yet ended, by whatever term?
--
-- KEYS     1 lease, 2 intents
-- ARGV     1 token
-- Returns  TIME; then a flat list of fire id and intent ("<term> <JSON>")
-- Keeps    fenced

local token = string.match(redis.call('GET', KEYS[1]) or '', '^%S+')
if token ~= ARGV[1] then
    return redis.error_reply('FENCED the lease is not of this token')
end

local time = redis.call('TIME')
return {time[1], time[2], redis.call('HGETALL', KEYS[2])}
