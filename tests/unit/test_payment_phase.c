/*
 * payment_phase: what the table of states must never say; payment ids.
 */
#include "tests/unit/unit.h"

#include "lib/database/payments/payment_phase.h"
#include "lib/database/payments/payment_store.h"

static const bool IS_OPEN[] = {
#define STATE(name, is_open, may_hold_money, meaning) [PAYMENT_PHASE_##name] = is_open,
#define TRANSITION(from, to, cause)
#include "lib/database/payments/payment_states.tbl"
#undef TRANSITION
#undef STATE
};

static const bool MAY_HOLD_MONEY[] = {
#define STATE(name, is_open, may_hold_money, meaning) [PAYMENT_PHASE_##name] = may_hold_money,
#define TRANSITION(from, to, cause)
#include "lib/database/payments/payment_states.tbl"
#undef TRANSITION
#undef STATE
};

static const bool MAY_FOLLOW[PAYMENT_PHASE_COUNT][PAYMENT_PHASE_COUNT] = {
#define STATE(name, is_open, may_hold_money, meaning)
#define TRANSITION(from, to, cause) [PAYMENT_PHASE_##from][PAYMENT_PHASE_##to] = true,
#include "lib/database/payments/payment_states.tbl"
#undef TRANSITION
#undef STATE
};

TEST(names_lead_back)
{
    enum payment_phase phase;

    for (int i = 0; i < PAYMENT_PHASE_COUNT; i++) {
        assert_true(payment_phase_parse(str_of(payment_phase_name((enum payment_phase)i)), &phase));
        assert_int_equal(phase, i);
    }
    assert_false(payment_phase_parse(STR("paid"), &phase));
    assert_false(payment_phase_parse(STR(""), &phase));
}

/* Whatever the table says, these hold. */
TEST(there_is_no_way_around_the_money)
{
    for (int i = 0; i < PAYMENT_PHASE_COUNT; i++) {
        enum payment_phase phase = (enum payment_phase)i;
        assert_false(MAY_FOLLOW[phase][phase]);
        assert_false(MAY_FOLLOW[phase][PAYMENT_PHASE_STARTING]);
        assert_false(MAY_FOLLOW[PAYMENT_PHASE_CANCELED][phase]);
        /* What is over is never open again, and money leaves only by being given back. */
        if (!IS_OPEN[phase]) {
            for (int j = 0; j < PAYMENT_PHASE_COUNT; j++) {
                assert_false(IS_OPEN[j] && MAY_FOLLOW[phase][j]);
            }
            assert_false(MAY_HOLD_MONEY[phase] && phase != PAYMENT_PHASE_CANCEL_REQUESTED &&
                         MAY_FOLLOW[phase][PAYMENT_PHASE_CANCELED]);
            assert_true(phase == PAYMENT_PHASE_CANCELED ||
                        phase == PAYMENT_PHASE_CANCEL_REQUESTED ||
                        MAY_FOLLOW[phase][PAYMENT_PHASE_CANCEL_REQUESTED]);
        }
    }
    assert_false(MAY_FOLLOW[PAYMENT_PHASE_UNKNOWN][PAYMENT_PHASE_READY]);
    assert_false(MAY_FOLLOW[PAYMENT_PHASE_UNKNOWN][PAYMENT_PHASE_STOPPED]);
    assert_false(MAY_FOLLOW[PAYMENT_PHASE_APPROVING][PAYMENT_PHASE_STOPPED]);
}

TEST(ids_have_one_form)
{
    char id[PAYMENT_ID_TEXT + 1];

    payment_id_make(id);
    assert_true(payment_id_is_valid(str_of(id)));
    assert_false(payment_id_is_valid(STR("p_")));
    assert_false(payment_id_is_valid(STR("o_AAAAAAAAAAAAAAAAAAAAAA")));
    assert_false(payment_id_is_valid(STR("p_AAAAAAAAAAAAAAAAAAAAA*")));
    assert_true(payment_id_is_valid(STR("p_AAAAAAAAAAAAAAAAAAAAAA")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_lead_back),
        cmocka_unit_test(there_is_no_way_around_the_money),
        cmocka_unit_test(ids_have_one_form),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
