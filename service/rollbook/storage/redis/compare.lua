-- Compare the index with a part of the lobby.
--
-- KEYS  the partition's lobby and rows
-- ARGV  prefix of the index, now
-- Reply the ids of matches whose row was not made from their lobby entry, or that are not where their row places them

local base, now = ARGV[1], tonumber(ARGV[2])
local wrong, rows = {}, {}
local stored = redis.pcall('HGETALL', KEYS[2])
for i = 1, #stored, 2 do
    rows[stored[i]] = stored[i + 1]
end

local function is_right(id, summary)
    local row = lines(rows[id])
    if row[1] ~= redis.sha1hex(summary) or not row[3] or not tonumber(row[4]) then
        return false
    end
    if row[3] ~= '-' then
        local due = redis.pcall('ZSCORE', base .. 'due:' .. row[3], id)
        if type(due) ~= 'string' or tonumber(due) > now + tonumber(row[4]) then
            return false
        end
    end
    for i = 5, #row do
        if type(redis.pcall('ZSCORE', base .. 'list:' .. row[i], row[2])) ~= 'string' then
            return false
        end
    end
    return true
end

local listed = redis.pcall('HGETALL', KEYS[1])
if listed.err then
    return redis.error_reply('WRONGTYPE the lobby is something else')
end
for i = 1, #listed, 2 do
    if not is_right(listed[i], listed[i + 1]) then
        table.insert(wrong, listed[i])
    end
    rows[listed[i]] = nil
end
for id in pairs(rows) do
    table.insert(wrong, id)
end
return wrong
