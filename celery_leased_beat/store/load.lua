#!lua
-- Where does each of these entries stand? New ones are enrolled from now.
--
-- KEYS     1 lease, 2 state, 3 current, 4 history
-- ARGV     1 token, 2 replica, 3 whether no other replica has held the lease since ("1" or "0"), then per entry its name,
--          its timing's key, and the watermark and anchor in ms that the replica remembers (both empty for none)
-- Returns  TIME; then a flat list of watermark and anchor per entry; then notes: what, index of the entry from 0, from, to
-- Keeps    fenced; no instant of a name is decided twice, also where its timing goes to and fro; a watermark goes back
--          only where it is over a minute ahead of TIME; a history that has a hole says so

-- A watermark so far ahead of the clock is one of a clock that was set back since, not of a claim: engine/turn.py
-- loads anew by the same measure.
local AHEAD = 60000
local LAST = 253402300799000  -- the end of the year 9999: nobody can read what lies behind it
local RECORDS = 100000  -- of some 130 bytes each: days of a busy schedule, and no memory without a bound
local KEPT = 604800000  -- 7 days, as the state of an entry that is gone: an audit finds both or neither

local token, term = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+) ')
if token ~= ARGV[1] then
    return redis.error_reply('FENCED the lease is not of this token')
end
redis.call('HLEN', KEYS[2])  -- a key of a wrong type is an error before anything is written
redis.call('HLEN', KEYS[3])
local on_record = redis.call('XLEN', KEYS[4]) > 0

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local positions, notes = {}, {}

local function text(milliseconds)
    return string.format('%.0f', milliseconds)
end

local function field(name, timing)
    return #name .. ':' .. name .. ':' .. timing
end

local function position(name, timing)
    local watermark, anchor = string.match(redis.call('HGET', KEYS[2], field(name, timing)) or '', '^(%d+) (%d+) ')
    return watermark and math.min(tonumber(watermark), LAST), tonumber(anchor)
end

local function record(what, name, from, to, reason)
    redis.call('XADD', KEYS[4], 'MAXLEN', '~', RECORDS, '*', 'entry', name, 'outcome', what, 'first', text(from),
        'last', text(to), 'count', 0, 'reason', reason, 'late', 0, 'term', term, 'holder', ARGV[2], 'fire', '')
    redis.call('PEXPIRE', KEYS[4], KEPT)
end

local function note(what, index, name, from, to, reason)
    notes[#notes + 1] = {what, index, text(from), text(to)}
    record(what, name, from, to, reason)
end

for at = 4, #ARGV, 4 do
    local index, name, timing = (at - 4) / 4, ARGV[at], ARGV[at + 1]
    local remembered, remembered_anchor = tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
    local watermark, anchor = position(name, timing)
    if watermark and remembered and remembered > now + AHEAD then
        remembered = nil  -- what it saw before the clock was set back; the ledger knows better
    end
    local recalled_from = watermark
    if not watermark and ARGV[3] == '1' then
        watermark, anchor = remembered, remembered_anchor
        recalled_from = on_record and anchor or watermark
    end
    local enrolled = not watermark
    watermark = math.max(watermark or now, remembered or 0)
    if recalled_from and recalled_from < watermark then
        record('recalled', name, recalled_from, watermark, 'decided before the server lost it')
    end

    local former = redis.call('HGET', KEYS[3], name)
    if former and former ~= timing then
        local decided = position(name, former)
        local from = enrolled and decided or watermark
        watermark = math.max(watermark, decided or 0)
        if enrolled or watermark > from then
            note('retimed', index, name, from, watermark, 'its timing was "' .. former .. '"')
        end
    end
    if watermark > now + AHEAD then
        note('corrected', index, name, now, watermark, 'its watermark was ahead of the clock')
        watermark = now
    end

    anchor = math.min(anchor or watermark, watermark)
    redis.call('HSET', KEYS[2], field(name, timing), text(watermark) .. ' ' .. text(anchor) .. ' ' .. term)
    redis.call('HSET', KEYS[3], name, timing)
    positions[#positions + 1] = text(watermark)
    positions[#positions + 1] = text(anchor)
end
return {time[1], time[2], positions, notes}
