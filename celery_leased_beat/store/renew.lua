#!lua
-- Is the lease still this token's? Then its TTL begins again, and its value names the present connection and server run.
--
-- KEYS     1 lease
-- ARGV     1 token, 2 TTL in ms, 3 client id, 4 replica
-- Returns  TIME; then nothing where the lease is gone or another's, else the term and the server's run id ("-" unknown)
-- Keeps    a foreign value as it is; the TTL is replaced, never added to

local time = redis.call('TIME')
local held = redis.call('GET', KEYS[1])
local token, term = string.match(held or '', '^(%S+) (%d+) ')
if token ~= ARGV[1] then
    return {time[1], time[2]}
end

local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or '-'
redis.call('SET', KEYS[1], table.concat({token, term, ARGV[3], run, ARGV[4]}, ' '), 'PX', ARGV[2])
return {time[1], time[2], term, run}
