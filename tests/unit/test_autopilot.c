#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#include "lib/admission/autopilot/autopilot.h"

static const struct autopilot_goal GOAL = {.order_p95_ms = 200,
                                           .origin_p95_ms = 200,
                                           .most_dropped = 0.001,
                                           .start = 50,
                                           .floor = 5,
                                           .ceiling = 120,
                                           .no_shows = true};

/* A queue with its shop: each second as many order as are let in. */
struct world {
    struct autopilot_goal goal;
    struct autopilot_memory memory;
    struct autopilot_verdict verdict;
    struct autopilot_look look;
    int64_t made;    /* orders in all */
    double let_in;   /* with what is left of whole members */
    double capacity; /* orders a second; beyond it they are slow */
    double no_shows; /* share that does not come, known at once */
    double fail;     /* share of orders that fail */
    bool times_out;  /* every order */
    bool hangs;      /* nothing ever ends */
    bool nobody_buys;
};

static struct world open_world(void)
{
    return (struct world){.goal = GOAL,
                          .look = {.now_ms = 1000000, .open = true, .waiting = 100000},
                          .capacity = 1000};
}

static void count_orders(struct world *world, int64_t orders)
{
    struct load_counts *counts = &world->look.orders;
    double load = (double)orders / world->capacity;

    for (int64_t i = 0; i < orders; i++) {
        double slow = load > 1 ? 300 * load : 20 + 100 * load * load;
        if (world->times_out) {
            counts->timeouts++;
        } else if ((double)(world->made++ * 37 % 100) < 100 * world->fail) {
            counts->errors++;
        } else {
            counts->buckets[order_load_bucket(slow * (0.7 + 0.6 * (double)(i % 10) / 10))]++;
        }
    }
}

static void second(struct world *world)
{
    struct autopilot_look *look = &world->look;

    world->let_in += look->waiting > 0 ? world->verdict.rate : 0;
    int64_t admitted = (int64_t)world->let_in;
    world->let_in -= (double)admitted;
    int64_t absent = (int64_t)((double)admitted * world->no_shows + 0.5);
    look->admitted += admitted;
    look->withdrawn += absent;
    look->now_ms += 1000;
    if (world->hangs) {
        look->claimed += admitted;
    } else if (!world->nobody_buys) {
        count_orders(world, admitted - absent);
    }
    autopilot_step(&world->goal, look, &world->memory, &world->verdict);
    look->moved = true;
    assert_true(world->verdict.rate >= world->goal.floor);
    assert_true(world->verdict.rate <= world->goal.ceiling);
}

static void seconds(struct world *world, int count)
{
    for (int i = 0; i < count; i++) {
        second(world);
    }
}

static double p95(const struct world *world)
{
    return load_view_quantile(&world->memory.order_view, 0.95);
}

TEST(a_rate_that_is_borne_rises_to_the_ceiling_and_stays)
{
    struct world world = open_world();

    second(&world);
    assert_int_equal(world.verdict.reason, AUTOPILOT_BEGINS);
    assert_true(world.verdict.rate == 50);
    seconds(&world, 40);
    assert_true(world.verdict.rate == 120);
    seconds(&world, 100);
    assert_true(world.verdict.rate == 120);
}

TEST(a_slow_database_brings_the_rate_down_within_ten_seconds_and_up_again_within_sixty)
{
    struct world world = open_world();

    world.goal.ceiling = 50;
    seconds(&world, 30);
    assert_true(world.verdict.rate == 50);
    world.capacity = 15;
    seconds(&world, 10);
    assert_true(world.verdict.rate <= 15);
    assert_true(p95(&world) < 200);
    seconds(&world, 120);
    assert_true(world.verdict.rate >= 7 && world.verdict.rate <= 22);
    world.capacity = 1000;
    seconds(&world, 60);
    assert_true(world.verdict.rate >= 45);
}

/* Long enough for the level to be broken many times: most of the time it is kept, and capacity
 * is made use of. */
TEST(near_its_limit_the_rate_keeps_to_the_level_most_of_the_time)
{
    struct world world = open_world();
    double sum = 0;
    int slow = 0;

    world.capacity = 60;
    seconds(&world, 60);
    for (int i = 0; i < 600; i++) {
        second(&world);
        sum += world.verdict.rate;
        slow += world.verdict.rate > world.capacity ? 1 : 0;
    }
    assert_true(sum / 600 > 0.6 * world.capacity);
    assert_true(slow < 60);
}

TEST(time_outs_alone_bring_it_to_the_floor)
{
    struct world world = open_world();

    seconds(&world, 20);
    world.times_out = true;
    seconds(&world, 12);
    assert_true(world.verdict.rate == 5);
    seconds(&world, 300);
    assert_true(world.verdict.rate == 5);
    world.times_out = false;
    seconds(&world, 60);
    assert_true(world.verdict.rate >= 50);
}

TEST(an_origin_that_times_out_brings_it_to_the_floor_too)
{
    struct world world = open_world();

    world.nobody_buys = true;
    second(&world);
    for (int i = 0; i < 15; i++) {
        world.look.origin.timeouts += 5;
        second(&world);
    }
    assert_true(world.verdict.rate == 5);
    assert_int_equal(world.memory.order_view.answered, 0);
}

TEST(errors_beyond_the_level_cut_and_fewer_do_not)
{
    struct world world = open_world();

    world.fail = 0.05;
    seconds(&world, 10);
    assert_true(world.verdict.rate < 25);
    world = open_world();
    world.goal.most_dropped = 0.10;
    world.fail = 0.05;
    seconds(&world, 30);
    assert_true(world.verdict.rate > 50);
}

TEST(one_error_is_no_error_share)
{
    struct world world = open_world();

    second(&world);
    world.look.orders.errors++;
    seconds(&world, 5);
    assert_true(world.verdict.rate >= 50);
}

TEST(orders_that_never_end_count_as_time_outs)
{
    struct world world = open_world();

    seconds(&world, 10);
    double before = world.verdict.rate;
    world.hangs = true;
    seconds(&world, 5);
    assert_int_equal(world.look.claimed > 2, 1);
    assert_true(world.verdict.rate <= before / 2);
    seconds(&world, 20);
    assert_true(world.verdict.rate == 5);
}

TEST(a_rate_that_is_not_used_does_not_grow)
{
    struct world world = open_world();

    world.look.waiting = 0;
    for (int i = 0; i < 60; i++) {
        /* Some are let in at once, far fewer than could be. */
        world.look.admitted += 10;
        count_orders(&world, 10);
        second(&world);
    }
    assert_int_equal(world.verdict.reason, AUTOPILOT_UNUSED);
    assert_true(world.verdict.rate == 50);
    /* maxActive is the limit: people wait, and still the rate is not used. */
    world.look.waiting = 1000;
    world.verdict.rate = 0;
    world.memory.in_force = 50;
    for (int i = 0; i < 60; i++) {
        double rate = world.verdict.rate;
        world.verdict.rate = 10;
        second(&world);
        assert_true(world.verdict.rate == 50 || rate == 0);
    }
}

TEST(nothing_is_learnt_from_seconds_without_orders)
{
    struct world world = open_world();

    seconds(&world, 10);
    double rate = world.verdict.rate;
    world.look.waiting = 0;
    seconds(&world, 100);
    assert_true(world.verdict.rate == rate);
}

TEST(without_any_order_it_finds_back_to_the_operators_rate_and_no_further)
{
    struct world world = open_world();

    world.times_out = true;
    seconds(&world, 20);
    assert_true(world.verdict.rate == 5);
    world.nobody_buys = true;
    seconds(&world, 120);
    assert_true(world.verdict.rate == 50);
}

TEST(while_nobody_is_let_in_nothing_moves)
{
    struct world world = open_world();

    seconds(&world, 10);
    double rate = world.verdict.rate;
    world.look.open = false;
    world.times_out = true;
    for (int i = 0; i < 20; i++) {
        world.look.orders.timeouts += 10;
        second(&world);
        assert_int_equal(world.verdict.reason, AUTOPILOT_CLOSED);
    }
    assert_true(world.verdict.rate == rate);
}

TEST(an_operator_who_sets_the_rate_is_followed_at_once)
{
    struct world world = open_world();

    seconds(&world, 20);
    world.goal.start = 8;
    world.look.moved = false;
    second(&world);
    assert_true(world.verdict.rate == 8);
    assert_int_equal(world.verdict.reason, AUTOPILOT_BEGINS);
}

TEST(no_shows_are_made_up_for_within_the_ceiling_and_twofold_at_most)
{
    struct world world = open_world();

    world.capacity = 40;
    world.no_shows = 0.5;
    world.goal.ceiling = 1000;
    seconds(&world, 200);
    double arrivals = world.verdict.rate * 0.5;
    assert_true(arrivals > 20 && arrivals < 50);
    assert_true(world.verdict.no_shows > 0.4 && world.verdict.no_shows <= 0.5);
    world.no_shows = 0.95;
    seconds(&world, 300);
    assert_true(autopilot_allowance(&world.memory) <= 2);
    world.goal.no_shows = false;
    seconds(&world, 2);
    assert_true(world.verdict.no_shows == 0);
}

TEST(counts_that_went_back_are_a_new_beginning)
{
    struct world world = open_world();

    seconds(&world, 20);
    double rate = world.verdict.rate;
    memset(&world.look.orders, 0, sizeof(world.look.orders));
    world.look.orders.timeouts = 3;
    second(&world);
    assert_int_equal(world.verdict.reason, AUTOPILOT_BEGINS);
    assert_true(world.verdict.rate == rate);
}

TEST(a_clock_that_was_set_back_keeps_nothing_from_being_cut)
{
    struct world world = open_world();

    world.look.now_ms = 10000000;
    seconds(&world, 10);
    world.times_out = true;
    seconds(&world, 2);
    double rate = world.verdict.rate;
    assert_true(rate > 5 && rate < 100);
    world.look.now_ms -= 3600 * 1000;
    seconds(&world, 12);
    assert_true(world.verdict.rate == 5);
}

TEST(more_that_are_not_seen_than_were_let_in_are_no_end_of_the_memory)
{
    struct world world = open_world();
    struct autopilot_memory read;
    char text[AUTOPILOT_MEMORY_TEXT];

    world.look.unseen = 1000;
    second(&world);
    autopilot_memory_write(&world.memory, text);
    assert_true(autopilot_memory_read(str_of(text), &read));
}

TEST(whatever_is_seen_the_rate_stays_between_floor_and_ceiling)
{
    struct world world = open_world();

    srand(7);
    for (int i = 0; i < 20000; i++) {
        world.capacity = 1 + rand() % 200;
        world.times_out = rand() % 20 == 0;
        world.hangs = rand() % 30 == 0;
        world.fail = rand() % 10 == 0 ? 0.3 : 0;
        world.look.open = rand() % 50 != 0;
        world.look.moved = rand() % 200 != 0;
        world.look.waiting = rand() % 3 == 0 ? 0 : 1000;
        world.no_shows = (double)(rand() % 100) / 100;
        world.look.now_ms += rand() % 200 == 0 ? rand() % 30000 - 5000 : 0;
        second(&world);
    }
}

TEST(memory_survives_as_text)
{
    struct world world = open_world();
    struct autopilot_memory read;
    char text[AUTOPILOT_MEMORY_TEXT];
    char again[AUTOPILOT_MEMORY_TEXT];

    world.fail = 0.02;
    seconds(&world, 37);
    autopilot_memory_write(&world.memory, text);
    assert_true(autopilot_memory_read(str_of(text), &read));
    autopilot_memory_write(&read, again);
    assert_string_equal(text, again);
    assert_int_equal(read.orders.errors, world.memory.orders.errors);
    /* Another leader goes on from there. */
    struct autopilot_verdict verdict;
    world.look.now_ms += 1000;
    autopilot_step(&world.goal, &world.look, &read, &verdict);
    assert_true(verdict.reason != AUTOPILOT_BEGINS);
}

TEST(anything_else_is_no_memory)
{
    struct world world = open_world();
    struct autopilot_memory read;
    char text[AUTOPILOT_MEMORY_TEXT];

    second(&world);
    autopilot_memory_write(&world.memory, text);
    assert_false(autopilot_memory_read(str_of(""), &read));
    assert_false(autopilot_memory_read(str_of("a1"), &read));
    assert_false(autopilot_memory_read(str_of("a0 1 2 3"), &read));
    assert_false(autopilot_memory_read(str_sized(text, strlen(text) - 2), &read));
    text[strlen(text) - 1] = 'x';
    assert_false(autopilot_memory_read(str_of(text), &read));
    text[5] = '-';
    assert_false(autopilot_memory_read(str_of(text), &read));
    assert_int_equal(read.at_ms, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_rate_that_is_borne_rises_to_the_ceiling_and_stays),
        cmocka_unit_test(
            a_slow_database_brings_the_rate_down_within_ten_seconds_and_up_again_within_sixty),
        cmocka_unit_test(near_its_limit_the_rate_keeps_to_the_level_most_of_the_time),
        cmocka_unit_test(time_outs_alone_bring_it_to_the_floor),
        cmocka_unit_test(an_origin_that_times_out_brings_it_to_the_floor_too),
        cmocka_unit_test(errors_beyond_the_level_cut_and_fewer_do_not),
        cmocka_unit_test(one_error_is_no_error_share),
        cmocka_unit_test(orders_that_never_end_count_as_time_outs),
        cmocka_unit_test(a_rate_that_is_not_used_does_not_grow),
        cmocka_unit_test(nothing_is_learnt_from_seconds_without_orders),
        cmocka_unit_test(without_any_order_it_finds_back_to_the_operators_rate_and_no_further),
        cmocka_unit_test(while_nobody_is_let_in_nothing_moves),
        cmocka_unit_test(an_operator_who_sets_the_rate_is_followed_at_once),
        cmocka_unit_test(no_shows_are_made_up_for_within_the_ceiling_and_twofold_at_most),
        cmocka_unit_test(counts_that_went_back_are_a_new_beginning),
        cmocka_unit_test(a_clock_that_was_set_back_keeps_nothing_from_being_cut),
        cmocka_unit_test(more_that_are_not_seen_than_were_let_in_are_no_end_of_the_memory),
        cmocka_unit_test(whatever_is_seen_the_rate_stays_between_floor_and_ceiling),
        cmocka_unit_test(memory_survives_as_text),
        cmocka_unit_test(anything_else_is_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
