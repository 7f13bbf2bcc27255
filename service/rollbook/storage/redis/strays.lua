-- Find places of matches in a list or an agenda that the rows of these matches do not name.
--
-- KEYS  the list or agenda, and the rows of a partition
-- ARGV  the kind of the first key (list or due), its name, then of each place its match id and its member there
-- Reply the ids of matches with such a place

local is_list, name = ARGV[1] == 'list', ARGV[2]

local function is_named(row, member)
    if not is_list then
        return row[3] == name
    end
    for i = 5, #row do
        if row[i] == name then
            return row[2] == member
        end
    end
    return false
end

local strays = {}
for i = 3, #ARGV, 2 do
    local id, member = ARGV[i], ARGV[i + 1]
    if not is_named(stored_row(KEYS[2], id), member) and redis.call('ZSCORE', KEYS[1], member) then
        table.insert(strays, id)
    end
end
return strays
