-- Take a match out of the lobby of whose log nothing can be read; what is left of it gives way to an empty stream, whose
-- last id keeps the match from being begun again.
--
-- KEYS  the match's stream, its partition's lobby, and its rows in the index
-- ARGV  match id, where the index is

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
