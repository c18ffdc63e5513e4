-- What an experienced engineer would build instead of Sluice's worker: nginx's Lua module, a cosocket client for
-- Redis (read line by line, as lua-resty-redis does) and OpenSSL by FFI. It does the same work: checks the ticket's
-- or the login's signature, calls the same script with the same arguments, writes the same answer, and issues a ticket
-- for an entry. bench/front.py writes bench_setup.lua, which holds keys, the script calls' arguments and the queue.
local ffi = require('ffi')
local setup = require('bench_setup')
local base64 = require('ngx.base64')

ffi.cdef([[
const void *EVP_sha256(void);
unsigned char *HMAC(const void *md, const void *key, int key_len, const unsigned char *d, size_t n,
                    unsigned char *out, unsigned int *out_len);
unsigned char *SHA256(const unsigned char *d, size_t n, unsigned char *out);
int RAND_bytes(unsigned char *out, int n);
int CRYPTO_memcmp(const void *a, const void *b, size_t n);
]])
local crypto = ffi.load('crypto')
local sha256 = crypto.EVP_sha256()
local bytes = ffi.new('unsigned char[64]')
local encode, decode = base64.encode_base64url, base64.decode_base64url
local format, find, match = string.format, string.find, string.match

local M = {}

local function hmac(key, text)
    crypto.HMAC(sha256, key, #key, text, #text, bytes, nil)
    return ffi.string(bytes, 32)
end

local function digest_of(text)
    crypto.SHA256(text, #text, bytes)
    return encode(ffi.string(bytes, 32))
end

local function random_token()
    crypto.RAND_bytes(bytes, 32)
    return encode(ffi.string(bytes, 32))
end

-- The claims of a JWT with a valid signature; nil otherwise.
local function claims_of(token, key, header)
    local head, body, signature = match(token, '^([%w_-]+)%.([%w_-]+)%.([%w_-]+)$')
    if not head or head ~= header then
        return nil
    end
    local given, right = decode(signature), hmac(key, head .. '.' .. body)
    if not given or #given ~= 32 or crypto.CRYPTO_memcmp(given, right, 32) ~= 0 then
        return nil
    end
    return decode(body)
end

local function read_reply(sock)
    local line, fault = sock:receive()
    if not line then
        return nil, fault
    end
    local kind, rest = line:sub(1, 1), line:sub(2)
    if kind == '$' then
        local size = tonumber(rest)
        if size < 0 then
            return false
        end
        local text = sock:receive(size)
        sock:receive(2)
        return text
    elseif kind == ':' then
        return tonumber(rest)
    elseif kind == '*' then
        local out = {}
        for i = 1, tonumber(rest) do
            out[i] = read_reply(sock)
        end
        return out
    elseif kind == '+' then
        return rest
    end
    return nil, rest
end

local function call(words)
    local sock = ngx.socket.tcp()
    sock:settimeout(1000)
    local good, fault = sock:connect(setup.redis)
    if not good then
        return nil, fault
    end
    sock:send(words)
    local reply
    reply, fault = read_reply(sock)
    sock:setkeepalive(60000, 512)
    return reply, fault
end

-- A script call is a list of constant pieces with the names of the values between them.
local function fill(pieces, values)
    local out = {}
    for i, piece in ipairs(pieces) do
        local value = values[piece]
        out[i] = value and format('$%d\r\n%s\r\n', #value, value) or piece
    end
    return out
end

local TIERS = { { 100, 1 }, { 1000, 2 }, { 10000, 5 }, { 100000, 10 }, { math.huge, 30 } }

local function time_of(ms)
    return os.date('!%Y-%m-%dT%H:%M:%S', ms / 1000) .. format('.%03dZ', ms % 1000)
end

local function quoted(text)
    if not text or text == '' then
        return 'null'
    end
    return '"' .. (find(text, '[%c"\\]') and text:gsub('[%c"\\]', '') or text) .. '"'
end

local function answer(status, r, ticket)
    local rank, pause, retry = r[4], 1, 1000
    if r[3] == 'WAITING' then
        for _, tier in ipairs(TIERS) do
            if rank < tier[1] then
                pause = tier[2]
                break
            end
        end
        retry = pause == 1 and 1000 or math.floor(pause * 1000 * (1 + math.random() / 4))
    end
    local eta = rank >= 0 and r[9] > 0 and math.ceil((rank + 1) * 1000 / r[9]) or 'null'
    local body = table.concat({
        '{"queue":"', setup.queue, '","queueState":"', r[2], '","status":"', r[3], '","rank":', rank,
        ',"currentTotalWaitingCount":', r[5], ',"estimatedWaitSeconds":', eta, ',"pollingIntervalSeconds":', pause,
        ',"retryAfterMs":', retry, ',"entryToken":', quoted(r[6]), ',"entryTokenExpiresAt":',
        r[7] > 0 and quoted(time_of(r[7])) or 'null', ',"queueTicket":', quoted(ticket), ',"serverTime":"',
        time_of(r[14]), '","seq":', r[10], ',"epoch":', r[12], ',"incarnation":', r[13], '}' })
    ngx.status = status
    local headers = ngx.header
    headers['Content-Type'] = 'application/json'
    headers['Content-Length'] = #body
    headers['Cache-Control'] = 'no-store'
    headers['X-Request-Id'] = ngx.var.request_id
    headers['X-Content-Type-Options'] = 'nosniff'
    ngx.print(body)
end

local function refuse(status, code)
    ngx.status = status
    ngx.header['Content-Type'] = 'application/problem+json'
    ngx.print('{"code":"' .. code .. '"}')
end

function M.position()
    local claims = claims_of(ngx.var.http_x_queue_ticket or '', setup.ticket_key, setup.ticket_header)
    local sub, seq = match(claims or '', '^{"sub":"([^"]+)","queue":"' .. setup.queue .. '".*"seq":(%d+)')
    local ends = sub and tonumber(match(claims, '"exp":(%d+)'))
    if not ends or ends <= ngx.time() then
        return refuse(401, 'TICKET_INVALID')
    end
    local reply = call(fill(setup.position, { member = sub, seq = seq }))
    if not reply or reply[1] ~= 'OK' then
        return refuse(503, 'ADMISSION_UNAVAILABLE')
    end
    return answer(200, reply)
end

function M.enter()
    ngx.req.read_body()
    local login = match(ngx.var.http_authorization or '', '^Bearer (.+)$')
    local claims = claims_of(login or '', setup.login_key, setup.login_header)
    local sub = match(claims or '', '"sub":"([%w._-]+)"')
    local ends = sub and tonumber(match(claims, '"exp":(%d+)'))
    if not ends or ends <= ngx.time() then
        return refuse(401, 'UNAUTHENTICATED')
    end
    local token = random_token()
    local reply = call(fill(setup.enter, { member = sub, token = token, admission = digest_of(token) }))
    if not reply or (reply[1] ~= 'ENTERED' and reply[1] ~= 'ALREADY') then
        return refuse(503, 'ADMISSION_UNAVAILABLE')
    end
    local text = setup.ticket_header .. '.' .. encode(format(
        '{"sub":"%s","queue":"%s","epoch":%d,"seq":%d,"lane":"main","queueSessionId":%d,"inc":%d,"iat":%d,"exp":%d}',
        sub, setup.queue, reply[12], reply[10], reply[11], reply[13], ngx.time(), ngx.time() + 86400))
    local ticket = text .. '.' .. encode(hmac(setup.ticket_key, text))
    ngx.header['Set-Cookie'] = 'sluice_ticket=' .. ticket .. '; Path=/; HttpOnly; SameSite=Lax'
    return answer(reply[1] == 'ENTERED' and 201 or 200, reply, ticket)
end

return M
