#!lua
-- captcha_spend: a captcha's solution is used up, once, by one entry token.
--@keys captcha
--@args holder ms
-- The key's tag is the hash of the solution, not a queue: it has a key of its own, which ends by itself.
-- holder: hash of event, member and entry token; ms: how long the solution could still be sent; 0: only looks.
-- Returns {OK} for a solution that was free, {ALREADY} for one that this holder has used, {TAKEN} for one
-- that another has.
-- Safe because setting and comparing are one step: of two that come at once one is the holder. The holder
-- may come again, so that a request may be repeated when what came after the captcha has failed.
local ms = tonumber(arg_ms)
local held
if ms > 0 then
    held = redis.call('SET', key_captcha, arg_holder, 'NX', 'GET', 'PX', ms)
else
    held = redis.call('GET', key_captcha)
end
if not held then
    return { 'OK' }
end
return { held == arg_holder and 'ALREADY' or 'TAKEN' }
