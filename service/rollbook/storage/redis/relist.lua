-- Replace the lobby entry and index row of a match.
--
-- KEYS  its partition's lobby and rows
-- ARGV  prefix of the index, match id, expected lobby entry, new entry, row, due time
-- Reply whether the entry was the expected one

if redis.call('HGET', KEYS[1], ARGV[2]) ~= ARGV[3] then
    return 0
end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[4])
index(ARGV[1], KEYS[2], ARGV[2], ARGV[4], ARGV[5], ARGV[6])
return 1
