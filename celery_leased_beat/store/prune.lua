#!lua
-- Which entries are absent from this term's schedule? They are marked with the time at which they were first found
-- absent, and removed when that was seven days ago. Runs after load.lua, over one page of the state.
--
-- KEYS     1 lease, 2 state, 3 current
-- ARGV     1 token, 2 cursor to begin at
-- Returns  TIME; then the cursor to go on from ("0" after the last page)
-- Keeps    fenced; an entry that this term loaded stays as it is

local KEPT = 604800000

local token, term = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+) ')
if token ~= ARGV[1] then
    return redis.error_reply('FENCED the lease is not of this token')
end
redis.call('HLEN', KEYS[3])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function remove(field)
    local length = string.match(field, '^%d+')
    if not length then
        return  -- not ours
    end
    local name = string.sub(field, #length + 2, #length + 1 + length)
    redis.call('HDEL', KEYS[2], field)
    if redis.call('HGET', KEYS[3], name) == string.sub(field, #length + 3 + length) then
        redis.call('HDEL', KEYS[3], name)
    end
end

local page = redis.call('HSCAN', KEYS[2], ARGV[2], 'COUNT', 500)
for at = 1, #page[2], 2 do
    local field, value = page[2][at], page[2][at + 1]
    local seen, absent = string.match(value, '^%d+ %d+ (%d+) ?(%d*)$')
    if seen and seen ~= term then
        if absent == '' then
            redis.call('HSET', KEYS[2], field, value .. ' ' .. string.format('%.0f', now))
        elseif now - tonumber(absent) > KEPT then
            remove(field)
        end
    end
end
return {time[1], time[2], page[1]}
