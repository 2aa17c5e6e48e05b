#!lua flags=allow-oom
-- Is the lease still this token's? Then it is free from now on, and one standby is woken.
--
-- KEYS     1 lease, 2 wake
-- ARGV     1 token, 2 for how long the wake-up waits for a standby, in ms
-- Returns  TIME; then 1 where it was this token's, else 0
-- Keeps    a foreign value as it is; the wake list has one element at most, and ends

local time = redis.call('TIME')
local held = redis.call('GET', KEYS[1])
if not held or string.match(held, '^%S+') ~= ARGV[1] then
    return {time[1], time[2], 0}
end

redis.call('DEL', KEYS[1], KEYS[2])
redis.call('RPUSH', KEYS[2], ARGV[1])
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return {time[1], time[2], 1}
