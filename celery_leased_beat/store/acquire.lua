#!lua
-- May this replica have the lease? Yes where it is free, where it has it already (the reply to its first request was
-- lost), and where the whole value is the one that the caller saw and found dead.
--
-- KEYS     1 lease, 2 term, 3 wake
-- ARGV     1 token, 2 TTL in ms, 3 client id, 4 replica, 5 the value that may be replaced (may be left out)
-- Returns  TIME; then nothing where another has it, else the term, the server's run id, and the term and run id of the
--          lease before it ("-" is unknown)
-- Keeps    one token per term; terms rise over a release and an expiry, and over the loss of all data (where that falls
--          into the second of the last acquire, a number may come twice; the tokens differ)

local time = redis.call('TIME')
local held = redis.call('GET', KEYS[1])
local last = redis.call('GET', KEYS[2]) or ''
local number, run, number_before, run_before = string.match(last, '^(%d+) (%S+) (%S+) (%S+)$')
local info = redis.pcall('INFO', 'server')  -- without the right to it a table
local run_now = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or '-'

if held and string.match(held, '^%S+') == ARGV[1] then
    local term = string.match(held, '^%S+ (%d+)')
    if term ~= number then
        number_before, run_before = '-', '-'
    end
    -- The first request's connection may be gone: the value names the one that asks now, or a standby misses it.
    redis.call('SET', KEYS[1], table.concat({ARGV[1], term, ARGV[3], run_now, ARGV[4]}, ' '), 'KEEPTTL')
    return {time[1], time[2], term, run_now, number_before, run_before}
end
if held and held ~= ARGV[5] then
    return {time[1], time[2]}
end

local term = string.format('%.0f', math.max((tonumber(number) or 0) + 1, tonumber(time[1])))
redis.call('SET', KEYS[1], table.concat({ARGV[1], term, ARGV[3], run_now, ARGV[4]}, ' '), 'PX', ARGV[2])
redis.call('SET', KEYS[2], table.concat({term, run_now, number or '-', run or '-'}, ' '))
redis.call('DEL', KEYS[3])
return {time[1], time[2], term, run_now, number or '-', run or '-'}
