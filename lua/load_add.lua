#!lua
-- load_add: adds to what is known of the load that a queue's members make.
--@keys settings state orderLoad
--@args
-- then field, count, field, count, …: the fields of include load, and with a prefix o those of the site behind the gate.
-- Returns {OK}, or NOT_FOUND.
-- Safe because it only counts; a queue that is not there gets no key.
--@include queue

for i = 1, #ARGV, 2 do
    redis.call('HINCRBY', key_orderLoad, ARGV[i], ARGV[i + 1])
end
return { 'OK' }
