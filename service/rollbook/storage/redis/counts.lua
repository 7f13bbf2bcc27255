-- Return the number of members of several lists.
--
-- KEYS  the lists
-- Reply a number for each; 'none' for a key of another type

local found = {}
for i, key in ipairs(KEYS) do
    local count = redis.pcall('ZCARD', key)
    found[i] = type(count) == 'number' and count or 'none'
end
return found
