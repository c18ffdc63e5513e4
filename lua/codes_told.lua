#!lua
-- codes_told: PostgreSQL knows of these uses of codes.
--@keys codeUses
--@args first count
-- first: the first of them, as it was read; count: how many.
-- Returns {OK} or {OLDER} where somebody else has told them.
-- Safe because it takes off the front only what begins with the use that was read: every use is another
-- text, so that two who tell at once never take off one that nobody told.
if redis.call('LINDEX', key_codeUses, 0) ~= arg_first then
    return { 'OLDER' }
end
redis.call('LTRIM', key_codeUses, arg_count, -1)
return { 'OK' }
