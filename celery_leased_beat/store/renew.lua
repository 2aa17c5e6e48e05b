#!lua
-- Is the lease still this token's? Then its TTL begins again, and its value names the present connection and server run.
--
-- KEYS     1 lease, 2 term
-- ARGV     1 token, 2 TTL in ms, 3 client id, 4 replica
-- Returns  TIME; then nothing where the lease is gone or another's, else the term and the server's run id ("-" unknown)
-- Keeps    a foreign value as it is; the TTL is replaced, never added to; the last term's run is that of its last renewal

local time = redis.call('TIME')
local held = redis.call('GET', KEYS[1])
local token, term, run_before = string.match(held or '', '^(%S+) (%d+) %S+ (%S+) ')
if token ~= ARGV[1] then
    return {time[1], time[2]}
end

local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or '-'
if run ~= '-' and run ~= run_before then
    local before = string.match(redis.call('GET', KEYS[2]) or '', '^' .. term .. ' %S+ (%S+ %S+)$') or '- -'
    redis.call('SET', KEYS[2], term .. ' ' .. run .. ' ' .. before)
end
redis.call('SET', KEYS[1], table.concat({token, term, ARGV[3], run, ARGV[4]}, ' '), 'PX', ARGV[2])
return {time[1], time[2], term, run}
