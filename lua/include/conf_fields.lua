-- conf_fields: the settings that are packed into the field `packed`, in this order: include settings reads them, and by name
-- where the last is missing. So new ones go to the end, and two releases read each other's; another order is another name
-- of the field.
local CONF_FIELDS = { 'deleted', 'epoch', 'operatorState', 'activation', 'identity', 'opensAt', 'closesAt', 'maxWaiting',
    'ratePerSecond', 'pollTiers', 'tickMs', 'mode', 'priorityShare', 'lotteryDraw', 'admitWhenIdle', 'maxInFlight',
    'claimLeaseSeconds', 'releaseOn', 'entryCaptcha' }
