-- Remove a match with an unreadable log from the lobby. An empty stream replaces the log; its last id prevents that the
-- match is begun again.
--
-- KEYS  the match's stream, its partition's lobby, and its rows in the index
-- ARGV  match id, prefix of the index

local last = 1
if redis.call('TYPE', KEYS[1])['ok'] == 'stream' then
    local facts = redis.call('XINFO', 'STREAM', KEYS[1])
    for i = 1, #facts, 2 do
        if facts[i] == 'last-generated-id' then
            last = math.max(last, tonumber(string.match(facts[i + 1], '^%d+')))
        end
    end
end

redis.call('DEL', KEYS[1])
redis.call('XADD', KEYS[1], string.format('%.0f-0', last), 'e', '')
redis.call('XTRIM', KEYS[1], 'MAXLEN', 0)
if redis.call('TYPE', KEYS[2])['ok'] == 'hash' then
    redis.call('HDEL', KEYS[2], ARGV[1])
end
unindex(ARGV[2], KEYS[3], ARGV[1])
return last
