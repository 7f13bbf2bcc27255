-- Take a match out of the lobby and its index.
--
-- KEYS  its partition's lobby and rows
-- ARGV  where the index is, match id

redis.call('HDEL', KEYS[1], ARGV[2])
unindex(ARGV[1], KEYS[2], ARGV[2])
return 0
