-- Give a match a place in each of these books, or in none of them if one is full.
--
-- KEYS  the books, sorted sets of matches by the deadline of the operation that the place is for
-- ARGV  match id, how long the operation may take in ms, how long a book is kept in seconds, then the size of each book
-- Reply {0, deadline, 1 if the match had no place in any of them} reserved, {number of the book that is full, now}

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local limit = now + tonumber(ARGV[2])
local is_new = 1

for i, key in ipairs(KEYS) do
    local found = redis.call('ZSCORE', key, ARGV[1])
    if found then
        is_new = 0
        -- Later than an existing one, so that the deadline identifies this reservation.
        limit = math.max(limit, math.abs(tonumber(found)) + 1)
    elseif redis.call('ZCARD', key) >= tonumber(ARGV[3 + i]) then
        return {i, now}
    end
end

for _, key in ipairs(KEYS) do
    redis.call('ZADD', key, string.format('%.0f', limit), ARGV[1])
    redis.call('EXPIRE', key, ARGV[3])
end
return {0, limit, is_new}
