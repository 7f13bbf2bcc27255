-- Index matches anew, those apart of which the lobby says something else by now: whoever changed that indexed it.
--
-- KEYS  a partition's lobby and rows
-- ARGV  where the index is, now, then of each match its id, the lobby's entry (empty: it is not there), its row, or what
--       is left of it, and when something is due
-- Reply  how many

local base, now = ARGV[1], tonumber(ARGV[2])
local count = 0

local function sorted(key)
    local kind = redis.call('TYPE', key)['ok']
    if kind ~= 'zset' and kind ~= 'none' then
        redis.call('DEL', key)
    end
    return key
end

local kind = redis.call('TYPE', KEYS[2])['ok']
if kind ~= 'hash' and kind ~= 'none' then
    redis.call('DEL', KEYS[2])
end

for i = 3, #ARGV, 4 do
    local id, summary, row, due = ARGV[i], ARGV[i + 1], lines(ARGV[i + 2]), ARGV[i + 3]
    local stored = redis.call('HGET', KEYS[1], id) or ''
    if stored == summary then
        count = count + 1
        if summary == '' then
            unindex(base, KEYS[2], id)
            redis.call('ZREM', sorted(base .. 'due:' .. row[2]), id)
            for j = 4, #row do
                redis.call('ZREM', sorted(base .. 'list:' .. row[j]), row[1])
            end
        else
            local agenda = sorted(base .. 'due:' .. row[2])
            local was = tonumber(redis.call('ZSCORE', agenda, id) or '')
            if was and was <= now + tonumber(row[3]) and stored_row(KEYS[2], id)[3] == row[2] then
                due = string.format('%.0f', was)
            end
            index(base, KEYS[2], id, summary, ARGV[i + 2], due)
            for j = 4, #row do
                redis.call('ZADD', sorted(base .. 'list:' .. row[j]), 0, row[1])
            end
        end
    end
end
return count
