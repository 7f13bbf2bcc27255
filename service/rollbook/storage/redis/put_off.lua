-- Something is due at another time, unless it has been said anew when since it was looked at.
--
-- KEYS  the agenda
-- ARGV  match id, when it was due, when it is

local found = redis.pcall('ZSCORE', KEYS[1], ARGV[1])
if type(found) == 'table' then
    return redis.error_reply('WRONGTYPE the agenda is something else')
end
if not found or tonumber(found) ~= tonumber(ARGV[2]) then
    return 0
end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return 1
