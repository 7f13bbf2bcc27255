-- Remove a match from the lobby and its index.
--
-- KEYS  its partition's lobby and rows
-- ARGV  prefix of the index, match id

redis.call('HDEL', KEYS[1], ARGV[2])
unindex(ARGV[1], KEYS[2], ARGV[2])
return 0
