/*
 * seats: what the records of holds and the board of a show say, and that nothing in them is
 * trusted.
 */
#include "tests/unit/unit.h"

#include "lib/admission/seats/seats_record.h"

static struct arena *arena;

static int make_arena(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int free_arena(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

static struct seat_holds read_at(int64_t now_ms, const char *record)
{
    struct seat_holds holds = {.now_ms = now_ms};

    seats_record_holds(arena, str_of(record), &holds);
    return holds;
}

TEST(a_hold_is_alive_until_its_deadline_and_not_at_it)
{
    assert_int_equal(read_at(999, "A-1/1000/0//").count, 1);
    assert_int_equal(read_at(1000, "A-1/1000/0//").count, 0);
    assert_int_equal(read_at(1000, "").count, 0);
}

TEST(an_order_keeps_a_hold_alive_and_says_so_by_its_end)
{
    struct seat_holds holds = read_at(1500, "A-1/1000/2000/c/a A-2/1700/9000/c/a A-3/1600/0//");

    assert_int_equal(holds.count, 3);
    assert_text(holds.holds[0].seat, "A-3");
    assert_int_equal(holds.holds[0].ends_ms, 1600);
    assert_text(holds.holds[1].seat, "A-2");
    assert_int_equal(holds.holds[1].ends_ms, 1700);
    assert_text(holds.holds[2].seat, "A-1");
    assert_int_equal(holds.holds[2].ends_ms, 2000);
}

TEST(what_cannot_be_read_is_no_hold)
{
    static const char *const BAD[] = {
        " ",         "A-1",         "A-1/",          "A-1/5000",
        "A-1/5000/", "A-1/5000/0/", "A-1/x/0//",     "A-1/5000/x//",
        "/////////", "A-1/-1/-1//", "A-1//5000/c/a", "A-1/99999999999999999999/0//",
    };

    for (size_t i = 0; i < COUNT(BAD); i++) {
        assert_int_equal(read_at(1000, BAD[i]).count, 0);
    }
    assert_int_equal(read_at(1000, "nonsense A-1/5000/0//  A-2/5000/0//").count, 2);
}

TEST(a_list_is_cut_at_its_spaces)
{
    const struct str *words;

    assert_int_equal(seats_record_words(arena, STR(""), &words), 0);
    assert_int_equal(seats_record_words(arena, STR("A-1 B-22 C"), &words), 3);
    assert_text(words[0], "A-1");
    assert_text(words[1], "B-22");
    assert_text(words[2], "C");
}

TEST(the_board_is_a_cell_a_seat)
{
    /* Held until 0x0102030405, held until 1, ordered, sold, free; then half a cell. */
    static const char BOARD[] = "H\0\1\2\3\4\5"
                                "H\0\0\0\0\0\1"
                                "O\0\0\0\0\0\0"
                                "S\0\0\0\0\0\0"
                                "\0\0\0\0\0\0\0"
                                "S\0";
    struct seat_map map = {.now_ms = 0x0102030404, .board = {BOARD, sizeof(BOARD) - 1}};

    assert_int_equal(seat_map_status(&map, 0), SEAT_HELD);
    assert_int_equal(seat_map_status(&map, 1), SEAT_AVAILABLE);
    assert_int_equal(seat_map_status(&map, 2), SEAT_HELD);
    assert_int_equal(seat_map_status(&map, 3), SEAT_SOLD);
    assert_int_equal(seat_map_status(&map, 4), SEAT_AVAILABLE);
    assert_int_equal(seat_map_status(&map, 5), SEAT_AVAILABLE);
    assert_int_equal(seat_map_status(&map, 50000), SEAT_AVAILABLE);
    map.now_ms++;
    assert_int_equal(seat_map_status(&map, 0), SEAT_AVAILABLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hold_is_alive_until_its_deadline_and_not_at_it),
        cmocka_unit_test(an_order_keeps_a_hold_alive_and_says_so_by_its_end),
        cmocka_unit_test(what_cannot_be_read_is_no_hold),
        cmocka_unit_test(a_list_is_cut_at_its_spaces),
        cmocka_unit_test(the_board_is_a_cell_a_seat),
    };

    return cmocka_run_group_tests(tests, make_arena, free_arena);
}
