-- One step in a pool of PlayNow: a hash of tables by match id. A table is JSON: `at`, when it was added, and `held`, its
-- places by holder: {end of the claim or 0 once seated, last seen, '' or 'p' for people only or 'h' for a house bot}.
--
-- KEYS  the pool
-- ARGV  step, match id, seats, claim in ms, seen in ms (0: any), keep in ms, most tables, then holders, each with its kind
-- Reply claim: {match id, end of the claim}; hold: {ms to wait or 0, end of the claim, 1 if the holder wants people only};
--       leave: {people, 1 if one of them wants people only}; places: holder, end, seen and kind of each; sit, drop: {}

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local step, match, holder, kind = ARGV[1], ARGV[2], ARGV[8], ARGV[9]
local seats, claim, window = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])

-- The table without its lapsed claims, and what it has.
local function read(id, text)
    local one = text and cjson.decode(text) or {at = now, held = {}}
    one.id, one.places, one.people, one.picky, one.seen, one.next = id, 0, 0, 0, 0, now + claim
    for name, place in pairs(one.held) do
        if place[1] > 0 and place[1] <= now then
            one.held[name] = nil
        else
            one.places = one.places + 1
            if place[1] > 0 then
                one.next = math.min(one.next, place[1])
            end
            if place[3] ~= 'h' then
                one.people = one.people + 1
                one.seen = math.max(one.seen, place[2])
            end
            if place[3] == 'p' then
                one.picky = 1
            end
        end
    end
    return one
end

local function write(one)
    redis.call('HSET', KEYS[1], one.id, cjson.encode({at = one.at, held = one.held}))
    redis.call('EXPIRE', KEYS[1], math.ceil(tonumber(ARGV[6]) / 1000))
end

-- Renew the holder's place, or add a claim.
local function place(one)
    local mine = one.held[holder]
    local sits = mine and mine[1] == 0
    one.held[holder] = {sits and 0 or now + claim, now, sits and mine[3] or kind}
    write(one)
    return one.held[holder][1]
end

if step == 'claim' then
    local tables = {}
    local stored = redis.call('HGETALL', KEYS[1])
    for i = 1, #stored, 2 do
        tables[#tables + 1] = read(stored[i], stored[i + 1])
    end
    table.sort(tables, function(a, b) return a.at < b.at or (a.at == b.at and a.id < b.id) end)
    local found, joined, stale
    for _, one in ipairs(tables) do
        if one.held[holder] then
            found = one
        end
        local suits = kind ~= 'p' or one.places == one.people
        local lives = one.people > 0 and (window == 0 or one.seen > now - window)
        if not joined and one.places < seats and lives and suits then
            joined = one
        end
        if not stale or one.seen < stale.seen then
            stale = one
        end
    end
    if not found and not joined and #tables >= tonumber(ARGV[7]) then
        redis.call('HDEL', KEYS[1], stale.id)
    end
    if found then
        -- A claim that is not used lapses, however often its holder asks.
        return {found.id, found.held[holder][1]}
    end
    found = joined or read(match)
    return {found.id, place(found)}
end

if step == 'drop' then
    redis.call('HDEL', KEYS[1], match)
    return {}
end

local one = read(match, redis.call('HGET', KEYS[1], match))

if step == 'hold' then
    local mine = one.held[holder]
    if not mine and one.places >= seats then
        return {one.next - now, 0, 0}
    end
    kind = mine and mine[3] or kind
    return {0, place(one), kind == 'p' and 1 or 0}
elseif step == 'sit' then
    for i = 8, #ARGV, 2 do
        local mine = one.held[ARGV[i]]
        one.held[ARGV[i]] = {0, now, mine and mine[3] or ARGV[i + 1]}
    end
    write(one)
    return {}
elseif step == 'leave' then
    one.held[holder] = nil
    local left = read(match, cjson.encode({at = one.at, held = one.held}))
    if left.people == 0 then
        redis.call('HDEL', KEYS[1], match)
    else
        write(left)
    end
    return {left.people, left.picky}
end

local reply = {}
for name, mine in pairs(one.held) do
    reply[#reply + 1] = name
    reply[#reply + 1] = mine[1]
    reply[#reply + 1] = mine[2]
    reply[#reply + 1] = mine[3]
end
return reply
