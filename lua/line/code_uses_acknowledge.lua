#!lua
-- code_uses_acknowledge: removes uses of codes that PostgreSQL has stored, or one unreadable entry.
--@keys codeUses
--@args first count
-- first: the first of them, as read from the front of the list; count: how many were stored.
-- Returns {OK}, or {OLDER} where another reconcile has removed them.
-- Safe because it removes from the front only where the list still begins with `first`. Each use is a different text, and
-- new ones go to the end, so two that acknowledge concurrently never remove a use that is not stored. An unreadable entry
-- may be there twice: it is removed alone.
if redis.call('LINDEX', key_codeUses, 0) ~= arg_first then
    return { 'OLDER' }
end
redis.call('LTRIM', key_codeUses, arg_count, -1)
return { 'OK' }
