-- Append the entries of one command after the position they were decided for: all of them, or none.
--
-- KEYS  the match's stream; its partition's lobby, if the append changes the lobby or begins the match; and its rows in
--       the index, if the append changes the index
-- ARGV  expected sequence, earliest time in ms (0: any), match id, lobby summary, the event at the expected sequence
--       (empty: any), the last sequence of a log that has lost everything after the expected one (0: not lost); if the
--       index changes: prefix of the index, row, and due time; then event and private part of each entry
-- Reply {0, head} appended, {1, head} another position, {2, now} too early
--
-- All checks come before the first write, because the writes of a failed script are not undone.

local expected = tonumber(ARGV[1])
local lost = tonumber(ARGV[6])
local last = 0
local kept = {}
local in_place = expected == 0

if KEYS[2] then
    local kind = redis.call('TYPE', KEYS[2])['ok']
    if kind ~= 'none' and kind ~= 'hash' then
        return redis.error_reply('WRONGTYPE the lobby is a ' .. kind)
    end
end

local kind = redis.call('TYPE', KEYS[1])['ok']
if kind ~= 'none' and kind ~= 'stream' then
    return {1, 0}
end

if kind == 'stream' then
    -- The last id outlives the entries, so that an archived match refuses stale appends.
    local facts = redis.call('XINFO', 'STREAM', KEYS[1])
    local length, id
    for i = 1, #facts, 2 do
        if facts[i] == 'last-generated-id' then
            id = facts[i + 1]
        elseif facts[i] == 'length' then
            length = facts[i + 1]
        end
    end
    last = tonumber(string.match(id, '^%d+'))
    if string.sub(id, -2) ~= '-0' then
        -- This script makes only ids ending in -0; another one counts as one entry too many.
        last = last + 1
    end
    if lost > 0 then
        kept = redis.call('XRANGE', KEYS[1], '-', string.format('%.0f-0', expected))
        in_place = expected > 0 and last == lost and #kept == expected
    else
        -- A log with a hole has fewer entries than its last id.
        in_place = expected > 0 and id == string.format('%.0f-0', expected) and length == expected
    end
elseif expected == 0 then
    -- A match in the lobby has been begun: if its log is lost, no new log takes its place.
    in_place = redis.call('HEXISTS', KEYS[2], ARGV[3]) == 0
end

if in_place and ARGV[5] ~= '' then
    local newest = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
    in_place = newest ~= nil and newest[2][1] == 'e' and newest[2][2] == ARGV[5]
end

if not in_place then
    return {1, last}
end

local not_before = tonumber(ARGV[2])
if not_before > 0 then
    local time = redis.call('TIME')
    local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
    if now < not_before then
        return {2, now}
    end
end

if lost > 0 then
    redis.call('DEL', KEYS[1])
    for _, entry in ipairs(kept) do
        redis.call('XADD', KEYS[1], entry[1], unpack(entry[2]))
    end
end

local sequence = expected
for i = KEYS[3] and 10 or 7, #ARGV, 2 do
    sequence = sequence + 1
    local id = string.format('%.0f-0', sequence)
    if ARGV[i + 1] == '' then
        redis.call('XADD', KEYS[1], id, 'e', ARGV[i])
    else
        redis.call('XADD', KEYS[1], id, 'e', ARGV[i], 'p', ARGV[i + 1])
    end
end

if KEYS[2] then
    if ARGV[4] == '' then
        redis.call('HDEL', KEYS[2], ARGV[3])
    else
        redis.call('HSET', KEYS[2], ARGV[3], ARGV[4])
    end
    if KEYS[3] and (ARGV[4] == '' or ARGV[8] == '') then
        unindex(ARGV[7], KEYS[3], ARGV[3])
    elseif KEYS[3] then
        index(ARGV[7], KEYS[3], ARGV[3], ARGV[4], ARGV[8], ARGV[9])
    end
end

-- A user without permission to publish appends all the same: readers find the entries by comparison.
redis.pcall('PUBLISH', 'rollbook:appended', string.format('%.0f %d %s', sequence, KEYS[2] and 1 or 0, ARGV[3]))

return {0, sequence}
