#!lua
-- May this run of a task begin? Yes for the first delivery of its id, and for the same delivery again (redelivered, or
-- retried) while no other run holds the marker. Whoever comes, the message is there: the fire's intent ends.
--
-- KEYS     1 marker, 2 intents
-- ARGV     1 task id (of a trigger, the fire id), 2 delivery, 3 run, 4 attempt, 5 hold in ms, 6 the marker's life in ms,
--          7 the starts that an attempt may have
-- Returns  TIME; then a verdict and, with "live", for how many ms more the other run holds the marker:
--          "own" begin; "exhausted" end it as failed, the marker is yours for that; "duplicate" another delivery, or an
--          attempt that a later one has followed; "done"; "live" another run of this delivery goes on
-- Keeps    one run at a time; the marker ends by itself

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local attempt = tonumber(ARGV[4])
local marker = redis.call('HMGET', KEYS[1], 'delivery', 'run', 'state', 'attempt', 'starts', 'hold')
local delivery, run, state = marker[1], marker[2], marker[3]
local last_attempt, starts, hold = tonumber(marker[4]) or -1, tonumber(marker[5]) or 0, tonumber(marker[6]) or 0

redis.call('HDEL', KEYS[2], ARGV[1])
if hold > now + tonumber(ARGV[5]) then
    hold = now + tonumber(ARGV[5])  -- the clock was set back: no hold is longer than one
    redis.call('HSET', KEYS[1], 'hold', string.format('%.0f', hold))
end
redis.call('PEXPIRE', KEYS[1], ARGV[6])

if run then
    if delivery ~= ARGV[2] or (attempt < last_attempt and state ~= 'done') then
        return {time[1], time[2], 'duplicate', 0}
    elseif state == 'done' then
        return {time[1], time[2], 'done', 0}
    elseif run ~= ARGV[3] and hold > now then
        return {time[1], time[2], 'live', hold - now}
    end
end

starts = attempt == last_attempt and starts or 0
if run ~= ARGV[3] or attempt ~= last_attempt then
    starts = starts + 1
end
redis.call('HSET', KEYS[1], 'delivery', ARGV[2], 'run', ARGV[3], 'state', 'running', 'attempt', ARGV[4],
    'starts', starts, 'hold', string.format('%.0f', now + tonumber(ARGV[5])))
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return {time[1], time[2], starts > tonumber(ARGV[7]) and 'exhausted' or 'own', 0}
