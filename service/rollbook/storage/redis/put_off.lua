-- Change the due time of a match, unless it has changed since the caller read it.
--
-- KEYS  the agenda
-- ARGV  match id, old due time, new due time

local found = redis.pcall('ZSCORE', KEYS[1], ARGV[1])
if type(found) == 'table' then
    return redis.error_reply('WRONGTYPE the agenda is something else')
end
if not found or tonumber(found) ~= tonumber(ARGV[2]) then
    return 0
end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return 1
