-- What places were reserved for has happened, or they are taken back; those that were reserved again since stay.
--
-- KEYS  the books
-- ARGV  'settle' or 'release', then match id and until when it may be under way, as its reservation said, again and again

for _, key in ipairs(KEYS) do
    for i = 2, #ARGV, 2 do
        local found = redis.call('ZSCORE', key, ARGV[i])
        if found and tonumber(found) == tonumber(ARGV[i + 1]) then
            if ARGV[1] == 'settle' then
                -- Below any time, and still like that of no other reservation.
                redis.call('ZADD', key, '-' .. ARGV[i + 1], ARGV[i])
            else
                redis.call('ZREM', key, ARGV[i])
            end
        end
    end
end
return 0
