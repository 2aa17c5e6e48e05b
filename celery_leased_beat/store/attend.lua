#!lua flags=allow-oom
-- Which replicas compete for the lease? This one does, and with it whoever has said so within the life of a record.
--
-- KEYS     1 replicas, 2 outline of this replica's schedule
-- ARGV     1 the replica's id, 2 its record, 3 a record's life in ms, 4 the outline's life in ms
-- Returns  TIME; then 1 where the outline is there, else 0; then a flat list of id and record
-- Keeps    a record that is older, or from ahead of the clock, is removed; both keys end by themselves; a roll of a wrong
--          type is removed, since the lease is more than the order of those who compete for it

local length = redis.pcall('HLEN', KEYS[1])
if type(length) == 'table' and string.find(length.err, 'WRONGTYPE') then
    redis.call('DEL', KEYS[1])
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local life = tonumber(ARGV[3])
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f', now) .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])

local present = {}
local all = redis.call('HGETALL', KEYS[1])
for index = 1, #all, 2 do
    local at, record = string.match(all[index + 1], '^(%d+) (.*)$')
    if at and math.abs(now - tonumber(at)) <= life then
        present[#present + 1] = all[index]
        present[#present + 1] = record
    else
        redis.call('HDEL', KEYS[1], all[index])
    end
end
return {time[1], time[2], redis.call('PEXPIRE', KEYS[2], ARGV[4]), present}
