-- Return the next members of several lists, in descending order.
--
-- KEYS  the lists
-- ARGV  how many of each at most, then where to continue in each
-- Reply the members of each; 0 for a key of another type

local found = {}
for i, key in ipairs(KEYS) do
    local members = redis.pcall('ZREVRANGEBYLEX', key, ARGV[i + 1], '-', 'LIMIT', 0, ARGV[1])
    found[i] = members.err and 0 or members
end
return found
