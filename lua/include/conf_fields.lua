-- conf_fields: the settings that are packed into the field `packed`, in this order: include settings reads them. New ones
-- go to the end, so that two releases read each other's; another order is another name of the field.
local CONF_FIELDS = { 'deleted', 'epoch', 'operatorState', 'activation', 'identity', 'opensAt', 'closesAt', 'maxWaiting',
    'ratePerSecond', 'pollTiers', 'tickMs', 'mode', 'priorityShare', 'lotteryDraw', 'admitWhenIdle', 'maxInFlight',
    'claimLeaseSeconds', 'releaseOn' }
