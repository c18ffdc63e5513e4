-- conf_fields: the settings that are packed into the field `packed`, in this order. include settings unpacks them, and reads
-- them by name where the last one is missing. So append new ones: two releases then read each other's field. A changed
-- order needs another field name.
local CONF_FIELDS = { 'deleted', 'epoch', 'operatorState', 'activation', 'identity', 'opensAt', 'closesAt', 'maxWaiting',
    'ratePerSecond', 'pollTiers', 'tickMs', 'mode', 'priorityShare', 'lotteryDraw', 'admitWhenIdle', 'maxInFlight',
    'claimLeaseSeconds', 'releaseOn', 'entryCaptcha' }
