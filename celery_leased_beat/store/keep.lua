#!lua
-- The server has lost intents that this holder still has: they are written again, so that a successor finds them.
--
-- KEYS     1 lease, 2 intents
-- ARGV     1 token, then per intent its fire id and it as JSON
-- Returns  TIME
-- Keeps    fenced; an intent that is there stays as it is

local token, term = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+) ')
if token ~= ARGV[1] then
    return redis.error_reply('FENCED the lease is not of this token')
end

local time = redis.call('TIME')
for at = 2, #ARGV, 2 do
    redis.call('HSETNX', KEYS[2], ARGV[at], term .. ' ' .. ARGV[at + 1])
end
return {time[1], time[2]}
