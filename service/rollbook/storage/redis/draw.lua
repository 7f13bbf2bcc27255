-- Take one out of a bucket that fills steadily, or say how long to wait. What is kept is when it will be full again:
-- an empty bucket at the latest after the time in which it fills, also if the clock went back since it was written.
--
-- KEYS  the bucket
-- ARGV  how many it holds, and in how many ms it fills
-- Reply  0, or ms until there is one

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
