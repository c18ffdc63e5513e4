#!lua
-- captcha_spend: spends a captcha's solution for one entry token.
--@keys captcha
--@args holder ms
-- The key's hash tag is the hash of the solution, not a queue; the key expires.
-- holder: hash of event, member and entry token; ms: how long the solution remains valid; 0: only checks.
-- Returns {OK} for a solution that was free, {ALREADY} for one that this holder has spent, {TAKEN} for one that another
-- holder has.
-- Safe because setting and comparing are one step (SET NX GET): of two concurrent holders one wins. The same holder may
-- repeat, so that a request can be retried when a step after the captcha has failed.
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
