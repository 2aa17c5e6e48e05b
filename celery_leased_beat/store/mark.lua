#!lua
-- Is the marker still this run's? Then it goes on ("running"), pauses until its retry ("paused"), or is over ("done").
--
-- KEYS     1 marker
-- ARGV     1 run, 2 state, 3 hold in ms (0 ends it), 4 the marker's life in ms
-- Returns  TIME; then 1 where the marker is this run's, else 0
-- Keeps    a run that another one took over from changes nothing; "done" is for good, and a run that paused does not go
--          on, however late a renewal comes; a marker that was lost (the server lost its data) comes back as "done" only,
--          since then nobody may begin

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local marker = redis.call('HMGET', KEYS[1], 'run', 'state')
local run, state = marker[1], marker[2]
local lost = not run and ARGV[2] == 'done'
local over = state == 'done' and ARGV[2] ~= 'done' or state == 'paused' and ARGV[2] == 'running'
if not lost and (run ~= ARGV[1] or over) then
    return {time[1], time[2], 0}
end

local hold = tonumber(ARGV[3])
redis.call('HSET', KEYS[1], 'run', ARGV[1], 'state', ARGV[2], 'hold', hold > 0 and string.format('%.0f', now + hold) or 0)
if ARGV[2] == 'paused' then
    redis.call('HSET', KEYS[1], 'starts', 0)  -- this start came to an end
end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {time[1], time[2], 1}
