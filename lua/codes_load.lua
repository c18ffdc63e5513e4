#!lua
-- codes_load: brings codes and who has used them from PostgreSQL into Redis.
--@keys codes codeUsers
--@args
-- then, per code: hash, kind/uses left/end in ms (0: none); per use: hash/member, moment in ms.
-- Returns {LOADED, codes that were new}.
-- Safe because a code never gets more uses by it. Redis counts uses before PostgreSQL hears of them, and may have forgotten
-- its last ones after PostgreSQL had heard: what is left is what neither knows to be used. A use that comes as news to a code
-- that is there is counted then and there, once, since its user is put down in the same step; and of what both say is left
-- the smaller counts.
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
