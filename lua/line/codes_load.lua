#!lua
-- codes_load: publishes codes and their uses from PostgreSQL.
--@keys codes codeUsers
--@args
-- then, per code: hash, kind/uses left/end in ms (0: none); per use: hash/member, moment in ms.
-- Returns {LOADED, number of codes that were new}.
-- Safe because it never gives a known code more uses, and is idempotent. Redis counts a use before PostgreSQL stores it, and
-- may lose the last ones after PostgreSQL has stored them. So a use new to Redis is counted against a known code in the step
-- that records its member, hence once; and of the two numbers of uses left the smaller one stays.
local CODE = '^(%a+)/(%d+)/(%d+)$'

local function keep_at_most(hash, most)
    local kind, left, ends = string.match(redis.call('HGET', key_codes, hash) or '', CODE)
    if kind and tonumber(left) > most then
        redis.call('HSET', key_codes, hash, string.format('%s/%.0f/%s', kind, most, ends))
    end
end

local function count_one_use(hash)
    local _, left = string.match(redis.call('HGET', key_codes, hash) or '', CODE)
    if left then
        keep_at_most(hash, math.max(tonumber(left) - 1, 0))
    end
end

local new = 0
for i = 1, #ARGV, 2 do
    local hash = string.match(ARGV[i], '^([^/]*)/')
    if not hash and redis.call('HSETNX', key_codes, ARGV[i], ARGV[i + 1]) == 1 then
        new = new + 1
    elseif not hash then
        local _, left = string.match(ARGV[i + 1], CODE)
        keep_at_most(ARGV[i], tonumber(left))
    elseif redis.call('HSETNX', key_codeUsers, ARGV[i], ARGV[i + 1]) == 1 then
        count_one_use(hash)
    end
end
return { 'LOADED', new }
