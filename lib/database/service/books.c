#include "lib/database/service/books.h"

static void take(struct books *books, struct str name, int64_t number)
{
    const struct {
        struct str name;
        int64_t *number;
    } others[] = {
        {STR("stuck"), &books->payments_stuck},         {STR("consume"), &books->outbox_consumes},
        {STR("other"), &books->outbox_others},          {STR("failed"), &books->outbox_failed},
        {STR("oldest"), &books->outbox_oldest_seconds},
    };
    enum payment_phase phase;

    if (payment_phase_parse(name, &phase)) {
        books->payments[phase] = number;
    }
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (str_equal(name, others[i].name)) {
            *others[i].number = number;
        }
    }
}

enum postgres_outcome books_read(struct postgres *postgres, struct arena *arena,
                                 struct books *books)
{
    const PGresult *result = NULL;
    enum postgres_outcome outcome = postgres_query(postgres, arena, QUERY_BOOKS, NULL, &result);

    *books = (struct books){0};
    for (int i = 0; outcome == POSTGRES_OK && i < PQntuples(result); i++) {
        take(books, postgres_text(result, i, 0), postgres_int(result, i, 1, 0));
    }
    return outcome;
}
