-- Record that a player declines a rematch, for a while, and announce it.
--
-- KEYS  the players who have declined the rematch
-- ARGV  match id, player, how long the answers are kept in seconds

redis.call('ZADD', KEYS[1], 0, ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
-- Head 0 is no append. The answer counts also if the user may not publish.
redis.pcall('PUBLISH', 'rollbook:appended', '0 1 ' .. ARGV[1])
return 1
