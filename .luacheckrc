-- For the scripts as Redis gets them, with includes inserted and keys and arguments named:
--     scripts/embed-lua --expand lua/line/enter.lua | luacheck --filename lua/line/enter.lua -
-- A name that no declaration and no include brings is then an undefined variable.
std = "lua51"
read_globals = { "ARGV", "KEYS", "cjson", "redis" }
-- A declaration of many keys is one line.
max_line_length = false
-- An include brings all of its functions and values, also those that one script does not use.
ignore = { "211", "221", "311/virtual_now" }
