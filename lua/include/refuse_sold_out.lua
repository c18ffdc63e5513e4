-- refuse_sold_out: returns SOLD_OUT and why: ended, where coupons are left and their events have ended; gone otherwise. Needs
-- KEYS state and includes settings, run.
return { 'SOLD_OUT', conf.operatorState ~= 'SOLD_OUT'
    and (run.soldOut ~= '1' or redis.call('HGET', key_state, 'soldOutByEnd') == '1') and 'ended' or 'gone' }
