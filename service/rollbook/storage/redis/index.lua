-- Functions that maintain the lists and agendas of the index. Both are derived from the lobby entries, and changed by
-- the scripts that change those; this file is put in front of such scripts.
--
-- Each match has a row, lines of text: the digest of the lobby entry it was made from, its member in lists, its agenda
-- (- for none), how many ms ahead its due time may be, and the names of its lists. All commands are pcalls: an error
-- must not stop a script, whose earlier writes are not undone, and errors in the index are repaired later.

local function lines(text)
    local found = {}
    for line in string.gmatch(text or '', '[^\n]+') do
        table.insert(found, line)
    end
    return found
end

local function stored_row(rows, id)
    local row = redis.pcall('HGET', rows, id)
    return lines(type(row) == 'string' and row or '')
end

local function unindex(base, rows, id)
    local row = stored_row(rows, id)
    for i = 5, #row do
        redis.pcall('ZREM', base .. 'list:' .. row[i], row[2])
    end
    if row[3] then
        redis.pcall('ZREM', base .. 'due:' .. row[3], id)
    end
    redis.pcall('HDEL', rows, id)
end

-- `row` lacks the digest.
local function index(base, rows, id, summary, row, due)
    local before, after = stored_row(rows, id), lines(row)
    local stays, stood = {}, {}
    for i = 4, #after do
        stays[after[i]] = before[2] == after[1]
    end
    for i = 5, #before do
        stood[before[i]] = stays[before[i]]
        if not stays[before[i]] then
            redis.pcall('ZREM', base .. 'list:' .. before[i], before[2])
        end
    end
    if before[3] and before[3] ~= after[2] then
        redis.pcall('ZREM', base .. 'due:' .. before[3], id)
    end
    for i = 4, #after do
        if not stood[after[i]] then
            redis.pcall('ZADD', base .. 'list:' .. after[i], 0, after[1])
        end
    end
    if after[2] ~= '-' then
        redis.pcall('ZADD', base .. 'due:' .. after[2], due, id)
    end
    redis.pcall('HSET', rows, id, redis.sha1hex(summary) .. '\n' .. row)
end

