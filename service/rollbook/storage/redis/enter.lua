-- Record a process and its description, and return the descriptions of all others recorded recently.
--
-- KEYS  the processes of the store
-- ARGV  its name, its description, after how many ms without a record a process is gone
-- Reply the descriptions of the others

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local others = {}
local all = redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
    local at, said = string.match(all[i + 1], '^(%d+) (.*)$')
    if not at or now - tonumber(at) > tonumber(ARGV[3]) then
        redis.call('HDEL', KEYS[1], all[i])
    elseif all[i] ~= ARGV[1] then
        table.insert(others, said)
    end
end
redis.call('HSET', KEYS[1], ARGV[1], string.format('%.0f ', now) .. ARGV[2])
return others
