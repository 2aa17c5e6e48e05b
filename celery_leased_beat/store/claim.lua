#!lua
-- Which of these decisions are new? They are written: the watermark moves, the history tells, and a fire leaves its
-- intent. All is checked before the first write; what may be refused all the same comes first, so that no watermark
-- moves without its decision on record.
--
-- KEYS     1 lease, 2 state, 3 intents, 4 history
-- ARGV     1 token, 2 replica, then per decision, the instants of an entry in order: entry name, timing's key, outcome,
--          first and last instant in ms, count, reason, fire id and intent as JSON (both empty where nothing fires)
-- Returns  TIME; then per decision "claimed" (new, or this term's own from a request whose reply was lost), "decided"
--          (its watermark is there already), or "early" (ahead of TIME, or behind a decision that is)
-- Keeps    fenced; no instant is decided twice; a watermark only rises, and never over TIME

local PER = 9
local RECORDS = 100000  -- of some 130 bytes each: days of a busy schedule, and no memory without a bound
local KEPT = 604800000  -- 7 days, as the state of an entry that is gone: an audit finds both or neither

local token, term = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%d+) ')
if token ~= ARGV[1] then
    return redis.error_reply('FENCED the lease is not of this token')
end
redis.call('HLEN', KEYS[3])  -- a key of a wrong type is an error before anything is written
redis.call('XLEN', KEYS[4])

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local states, verdicts, claimed = {}, {}, {}

local function state_of(name, timing)
    local field = #name .. ':' .. name .. ':' .. timing
    if not states[field] then
        local watermark, anchor = string.match(redis.call('HGET', KEYS[2], field) or '', '^(%d+) (%d+) ')
        -- A state that somebody removed begins again with the decision: the holder alone knows where it stood.
        states[field] = {watermark = tonumber(watermark) or -1, anchor = anchor}
    end
    return states[field]
end

local function is_own(fire)
    return fire ~= '' and string.match(redis.call('HGET', KEYS[3], fire) or '', '^%d+') == term
end

for at = 3, #ARGV, PER do
    local state = state_of(ARGV[at], ARGV[at + 1])
    local first, last = tonumber(ARGV[at + 3]), tonumber(ARGV[at + 4])
    state.early = state.early or last > now
    local verdict = 'claimed'
    if state.early then
        verdict = 'early'
    elseif first <= state.watermark then
        verdict = is_own(ARGV[at + 7]) and 'claimed' or 'decided'
    else
        state.watermark, state.anchor, state.moved = last, state.anchor or ARGV[at + 4], true
        claimed[#claimed + 1] = at
    end
    verdicts[#verdicts + 1] = verdict
end

for _, at in ipairs(claimed) do
    redis.call('XADD', KEYS[4], 'MAXLEN', '~', RECORDS, '*', 'entry', ARGV[at], 'outcome', ARGV[at + 2],
        'first', ARGV[at + 3], 'last', ARGV[at + 4], 'count', ARGV[at + 5], 'reason', ARGV[at + 6],
        'late', string.format('%.0f', now - tonumber(ARGV[at + 4])), 'term', term, 'holder', ARGV[2],
        'fire', ARGV[at + 7])
    if ARGV[at + 7] ~= '' then
        redis.call('HSET', KEYS[3], ARGV[at + 7], term .. ' ' .. ARGV[at + 8])
    end
end
for field, state in pairs(states) do
    if state.moved then
        redis.call('HSET', KEYS[2], field, string.format('%.0f', state.watermark) .. ' ' .. state.anchor .. ' ' .. term)
    end
end
if #claimed > 0 then
    redis.call('PEXPIRE', KEYS[4], KEPT)
end
return {time[1], time[2], verdicts}
