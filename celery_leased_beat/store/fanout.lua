#!lua
-- To which listeners does this envelope go? The first caller says it, for all later ones.
--
-- KEYS     1 fan-out record
-- ARGV     1 the listeners by name as JSON, each with the options of its message, 2 the record's life in ms
-- Returns  TIME; then the recorded listeners as JSON, and the names of those that were sent to
-- Keeps    the first list; the record ends by itself

local time = redis.call('TIME')
redis.call('HSETNX', KEYS[1], 'listeners', ARGV[1])
redis.call('PEXPIRE', KEYS[1], ARGV[2])

local sent = {}
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
    local name = string.match(field, '^sent:(.*)$')
    if name then
        sent[#sent + 1] = name
    end
end
return {time[1], time[2], redis.call('HGET', KEYS[1], 'listeners'), sent}
