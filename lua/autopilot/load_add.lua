#!lua
-- load_add: adds to the counters of the load that a queue's members cause.
--@keys settings state orderLoad
--@args
-- then field, count, field, count, …: the fields of include order_load; prefixed with o, those of the site behind the gate.
-- Returns {OK}, or NOT_FOUND.
-- Safe because it only increments; a queue that Redis does not know gets no key.
--@include queue

for i = 1, #ARGV, 2 do
    redis.call('HINCRBY', key_orderLoad, ARGV[i], ARGV[i + 1])
end
return { 'OK' }
