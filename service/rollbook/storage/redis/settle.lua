-- Settle reservations or remove them, except those that were reserved again since.
--
-- KEYS  the books
-- ARGV  'settle' or 'release', then match id and deadline of each reservation

for _, key in ipairs(KEYS) do
    for i = 2, #ARGV, 2 do
        local found = redis.call('ZSCORE', key, ARGV[i])
        if found and tonumber(found) == tonumber(ARGV[i + 1]) then
            if ARGV[1] == 'settle' then
                -- Negative: below any time, and still unique to this reservation.
                redis.call('ZADD', key, '-' .. ARGV[i + 1], ARGV[i])
            else
                redis.call('ZREM', key, ARGV[i])
            end
        end
    end
end
return 0
