/*
 * payment_result — reads what the statements about payments have in common. Internal to the payment
 * store.
 */
#ifndef SLUICE_ORDERS_PAYMENT_RESULT_H
#define SLUICE_ORDERS_PAYMENT_RESULT_H

#include "lib/database/payments/payment_store.h"

/** The outcome of a call that returned no rows and has no refusals of its own. */
enum payment_stored payment_result_refusal(const struct postgres *postgres,
                                           enum postgres_outcome outcome, const char *call);

/** Maps the result word of a function in 0013_payments.sql. An unknown word is a defect. */
enum payment_stored payment_result_word(struct str word);

/** Reads columns `column` to `column` + 3: amount, tax_free, vat, currency. */
void payment_result_amounts(const PGresult *result, int row, int column,
                            struct payment_amounts *amounts);

/** Text for a column that people read: at most PAYMENT_WHY_MAX bytes of printable ASCII. */
const char *payment_result_why(struct arena *arena, struct str why);

#endif
