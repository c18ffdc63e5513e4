#!lua flags=no-writes
-- snapshot_marks: the marks of consecutive ranges, for a host that has none yet.
--@keys marks
--@args first count
-- first: number of the first range; count: ranges, at most 256.
-- Returns {OK, marks of range first, of the next, …}: 256 bytes each, '' for a range without marks.
-- Safe because it only reads. Marks that change while a host reads range after range come with the changes of snapshot.
local fields = {}
for range = tonumber(arg_first), tonumber(arg_first) + math.min(tonumber(arg_count), 256) - 1 do
    fields[#fields + 1] = string.format('%.0f', range)
end
local answer = { 'OK' }
for i, marks in ipairs(redis.call('HMGET', key_marks, unpack(fields))) do
    answer[i + 1] = marks or ''
end
return answer
