-- Take one out of a bucket that fills steadily, or say how long to wait. What is kept is when it will be full again.
--
-- KEYS  the bucket
-- ARGV  how many it holds, and in how many ms it fills
-- Reply  0, or ms until there is one

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local fills = tonumber(ARGV[2])
local full = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now) + fills / tonumber(ARGV[1])
local wait = math.ceil(full - now - fills)

if wait > 0 then
    return wait
end
redis.call('SET', KEYS[1], string.format('%.3f', full), 'PX', string.format('%.0f', math.ceil(full - now)))
return 0
