-- How many members several lists have.
--
-- KEYS  the lists
-- Reply  a number for each; no number for one that is no list

local found = {}
for i, key in ipairs(KEYS) do
    local count = redis.pcall('ZCARD', key)
    found[i] = type(count) == 'number' and count or 'none'
end
return found
