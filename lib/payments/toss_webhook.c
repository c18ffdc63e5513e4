#include "lib/payments/toss_webhook.h"

#include "lib/payments/payment_json.h"

enum { EVENT_MAX = 64 };

enum payment_notice_outcome toss_notice(struct arena *arena, struct str body,
                                        struct payment_hint *hint)
{
    struct str event;

    *hint = (struct payment_hint){.ref = STR("")};
    json_object *object = payment_json_parse(arena, body);
    if (object == NULL || !payment_json_word(arena, object, "eventType", EVENT_MAX, &event)) {
        return PAYMENT_NOTICE_MALFORMED;
    }
    json_object *data = payment_json_object(object, "data");
    if (data == NULL || !str_equal(event, STR("PAYMENT_STATUS_CHANGED"))) {
        return PAYMENT_NOTICE_OTHER;
    }
    bool found = payment_json_word(arena, data, "paymentKey", PAYMENT_REF_MAX, &hint->ref);
    found = payment_json_word(arena, data, "orderId", PAYMENT_ID_MAX, &hint->id) || found;
    return found ? PAYMENT_NOTICE_HINT : PAYMENT_NOTICE_MALFORMED;
}
