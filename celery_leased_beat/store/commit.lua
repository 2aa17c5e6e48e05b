#!lua flags=allow-oom
-- These fires are enqueued: their intents end, and nothing else. May be sent twice, and a worker may have been first.
--
-- KEYS     1 lease, 2 intents
-- ARGV     1 token, then fire ids
-- Returns  TIME
-- Keeps    fenced

local token = string.match(redis.call('GET', KEYS[1]) or '', '^%S+')
if token ~= ARGV[1] then
    return redis.error_reply('FENCED the lease is not of this token')
end

local time = redis.call('TIME')
for at = 2, #ARGV do
    redis.call('HDEL', KEYS[2], ARGV[at])
end
return {time[1], time[2]}
