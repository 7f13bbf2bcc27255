-- Replace the seats of which a process has feeds, and announce a change of the seats that are present.
--
-- KEYS  the seats of a match: a sorted set of `seat/process` by the time at which the entry lapses
-- ARGV  match id, process, how long the entries last in ms, then the seats of the process
-- Reply all seats that are present

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function present()
    local seats, count = {}, 0
    for _, entry in ipairs(redis.call('ZRANGE', KEYS[1], 0, -1)) do
        local seat = string.match(entry, '^%d+')
        if not seats[seat] then
            seats[seat] = true
            count = count + 1
        end
    end
    return seats, count
end

local before, count = present()
for _, entry in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now))) do
    redis.call('ZREM', KEYS[1], entry)
end
for seat in pairs(before) do
    redis.call('ZREM', KEYS[1], seat .. '/' .. ARGV[2])
end
for i = 4, #ARGV do
    redis.call('ZADD', KEYS[1], string.format('%.0f', now + tonumber(ARGV[3])), ARGV[i] .. '/' .. ARGV[2])
end
redis.call('EXPIRE', KEYS[1], math.ceil(tonumber(ARGV[3]) / 1000))

local after, left = present()
local changed = left ~= count
local reply = {}
for seat in pairs(after) do
    changed = changed or not before[seat]
    reply[#reply + 1] = seat
end
if changed then
    -- Head 0 is no append. A user without permission to publish is present all the same.
    redis.pcall('PUBLISH', 'rollbook:appended', '0 0 ' .. ARGV[1])
end
return reply
