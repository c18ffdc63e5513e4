-- rate: the rate and the burst in force. Needs KEYS settings, state and includes queue.
-- With the autopilot the settings hash has rateFloor and rateCeiling ('' without), and `rateInForce` in `state` is the rate it
-- has set. The rate in force is clamped to the two; a rate of 0 stays 0.
local rates = nil

local function the_rates()
    if not rates then
        local fields = hash_fields(key_settings, 'rateFloor', 'rateCeiling', 'burst', 'burstAuto')
        local rate, burst = tonumber(conf.ratePerSecond), tonumber(fields.burst)
        local ceiling = tonumber(fields.rateCeiling)
        if ceiling and rate > 0 then
            local floor = math.min(tonumber(fields.rateFloor) or 0, ceiling)
            rate = tonumber(redis.call('HGET', key_state, 'rateInForce') or nil) or rate
            rate = math.max(floor, math.min(rate, ceiling))
            if fields.burstAuto == '1' then
                burst = math.max(1, rate, rate * tonumber(conf.tickMs) / 1000)
            end
        end
        rates = { rate = rate, burst = burst }
    end
    return rates
end

-- Members a second.
local function rate_in_force()
    return the_rates().rate
end

-- An automatic burst follows the rate in force; an operator's is used as it is.
local function burst_in_force()
    return the_rates().burst
end
