-- Rebuild the index rows of matches, except those whose lobby entry has changed: the script that changed it did so.
--
-- KEYS  a partition's lobby and rows
-- ARGV  prefix of the index, now, then for each match its id, its lobby entry (empty: not in the lobby), its row (or
--       the known part of a row that is to be removed), and its due time
-- Reply how many rows were written or removed

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
