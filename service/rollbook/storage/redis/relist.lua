-- Let the lobby and its index say something else of a match.
--
-- KEYS  its partition's lobby and rows
-- ARGV  where the index is, match id, what the lobby has to say till now, what from now on, the row, when something is due
-- Reply  whether it still said that

if redis.call('HGET', KEYS[1], ARGV[2]) ~= ARGV[3] then
    return 0
end
redis.call('HSET', KEYS[1], ARGV[2], ARGV[4])
index(ARGV[1], KEYS[2], ARGV[2], ARGV[4], ARGV[5], ARGV[6])
return 1
