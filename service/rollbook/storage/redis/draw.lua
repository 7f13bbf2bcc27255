-- Take one token from a bucket that fills steadily, or return how long to wait. The stored value is the time at which
-- the bucket will be full; it is at most the time to fill an empty bucket from now, even if the clock has gone back.
--
-- KEYS  the bucket
-- ARGV  how many tokens it holds, and in how many ms it fills
-- Reply 0, or ms until there is a token

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local fills = tonumber(ARGV[2])
local kept = tonumber(redis.call('GET', KEYS[1]) or '0')
local before = math.min(math.max(kept, now), now + fills)
local full = before + fills / tonumber(ARGV[1])
local wait = math.ceil(full - now - fills)

if wait > 0 then
    if kept > before then
        redis.call('SET', KEYS[1], string.format('%.3f', before), 'PX', string.format('%.0f', fills))
    end
    return wait
end
redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', string.format('%.0f', math.ceil(full - now)))
return 0
