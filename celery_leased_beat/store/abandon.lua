#!lua
-- This fire will not be enqueued: its intent ends, and the history says why. Nothing happens where it has ended already.
--
-- KEYS     1 lease, 2 intents, 3 history
-- ARGV     1 token, 2 replica, 3 fire id, 4 entry name, 5 instant in ms, 6 outcome, 7 reason
-- Returns  TIME; then 1 where the intent ended now, else 0
-- Keeps    fenced; one record per intent that ends so, written before the intent ends

local RECORDS = 100000  -- of some 130 bytes each: days of a busy schedule, and no memory without a bound
local KEPT = 604800000  -- 7 days, as the state of an entry that is gone: an audit finds both or neither

local token, term = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+) ')
if token ~= ARGV[1] then
    return redis.error_reply('FENCED the lease is not of this token')
end
redis.call('XLEN', KEYS[3])  -- a key of a wrong type is an error before anything is written

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local ended = redis.call('HGET', KEYS[2], ARGV[3]) and 1 or 0
if ended == 1 then
    redis.call('XADD', KEYS[3], 'MAXLEN', '~', RECORDS, '*', 'entry', ARGV[4], 'outcome', ARGV[6], 'first', ARGV[5],
        'last', ARGV[5], 'count', 1, 'reason', ARGV[7], 'late', string.format('%.0f', now - tonumber(ARGV[5])),
        'term', term, 'holder', ARGV[2], 'fire', ARGV[3])
    redis.call('PEXPIRE', KEYS[3], KEPT)
    redis.call('HDEL', KEYS[2], ARGV[3])
end
return {time[1], time[2], ended}
