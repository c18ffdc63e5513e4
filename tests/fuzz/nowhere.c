/*
 * What the bodies' handlers would call behind their stores, where no fuzzer comes: names for the
 * linker alone.
 */
#include <stdlib.h>

#define NOWHERE(name)                                                                              \
    void name(void);                                                                               \
    void name(void)                                                                                \
    {                                                                                              \
        abort();                                                                                   \
    }

NOWHERE(concert_answer)
NOWHERE(coupon_event_answer)
NOWHERE(product_answer)
NOWHERE(show_answer)
NOWHERE(availability_publish)
NOWHERE(captcha_check)
NOWHERE(catalog_concert_changed)
NOWHERE(catalog_show_changed)
NOWHERE(claim_prepare)
NOWHERE(concert_store_find)
NOWHERE(coupon_answer)
NOWHERE(coupon_answer_failure)
NOWHERE(coupon_find)
NOWHERE(coupon_issue_prepare)
NOWHERE(coupon_issue_read)
NOWHERE(coupon_key)
NOWHERE(coupons_left)
NOWHERE(coupon_event_cache_find)
NOWHERE(coupon_event_cache_forget)
NOWHERE(coupon_event_cache_moved)
NOWHERE(coupon_event_cache_note_issued)
NOWHERE(operator_log_change)
NOWHERE(order_claim_consume)
NOWHERE(order_claim_failed)
NOWHERE(order_claim_release)
NOWHERE(order_claim_spent)
NOWHERE(order_claim_take)
NOWHERE(postgres_finish)
NOWHERE(postgres_send)
NOWHERE(order_claim_unknown)
NOWHERE(outbox_done)
NOWHERE(queue_not_found)
NOWHERE(seats_forget)
NOWHERE(seats_known)
NOWHERE(show_publish)
NOWHERE(show_states_publish)
NOWHERE(test_pause)
NOWHERE(text_json)
