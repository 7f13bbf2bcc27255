-- Add, replace or remove one ban, and remove expired bans.
--
-- KEYS  the list
-- ARGV  id, ban (empty: remove it), its expiry in ms, and the maximum number of bans
-- Reply whether the id was in the list (1 or 0), and the number of bans, or -1 if the list is full
local now = redis.call('TIME')
local now_ms = tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)
local latest, count = 0, 0
local said = redis.call('HGETALL', KEYS[1])
local was_there = 0
for index = 1, #said, 2 do
    local id, ban = said[index], said[index + 1]
    local until_ms = tonumber(string.match(ban, '^(%d+) '))
    if id == 'version' then
        until_ms = nil
    elseif not until_ms or until_ms <= now_ms then
        redis.call('HDEL', KEYS[1], id)
    elseif id == ARGV[1] then
        was_there = 1
    else
        count = count + 1
        latest = math.max(latest, until_ms)
    end
end
if ARGV[2] == '' then
    redis.call('HDEL', KEYS[1], ARGV[1])
else
    if count >= tonumber(ARGV[4]) then
        return {was_there, -1}
    end
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[3] .. ' ' .. ARGV[2])
    count = count + 1
    latest = math.max(latest, tonumber(ARGV[3]))
end
-- At least the time, so that a store restored from a backup does not repeat a version with another content.
local version = tonumber(redis.call('HGET', KEYS[1], 'version') or '0')
redis.call('HSET', KEYS[1], 'version', string.format('%.0f', math.max(version + 1, now_ms)))
-- One day after the last expiry, so that every process sees the end of the last ban before the list goes.
redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', math.max(latest, now_ms) + 86400000))
return {was_there, count}
