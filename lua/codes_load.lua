#!lua
-- codes_load: brings codes and who has used them from PostgreSQL into Redis.
--@keys codes codeUsers
--@args
-- then, per code: hash, kind/uses left/end in ms (0: none); per use: hash/member, moment in ms.
-- Returns {LOADED, codes that were new}.
-- Safe because what Redis knows already stays: it counts uses before PostgreSQL hears of them.
local new = 0
for i = 1, #ARGV, 2 do
    if string.find(ARGV[i], '/', 1, true) then
        redis.call('HSETNX', key_codeUsers, ARGV[i], ARGV[i + 1])
    else
        new = new + redis.call('HSETNX', key_codes, ARGV[i], ARGV[i + 1])
    end
end
return { 'LOADED', new }
