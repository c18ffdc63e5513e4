-- 0024_comments: what columns and functions mean that do not speak for themselves.
-- Purpose   sql/schema and psql's \d+ show it; comments that named a path name the file alone, wherever it is moved
-- Locks     SHARE UPDATE EXCLUSIVE on the tables for a moment
-- Undo      none needed: comments change nothing

COMMENT ON VIEW queue_record IS 'A queue as the programs read it: queue_store.h.';
COMMENT ON COLUMN queue.operator_state IS 'What operators have said last; whether the queue is open follows from it, opensAt, closesAt and sold_out.';

COMMENT ON COLUMN product.currency IS 'ISO 4217 code, as all currencies here.';
COMMENT ON COLUMN customer_order.admission_id IS 'The admission spent on it: SHA-256 of the entry token. In admission_use.';
COMMENT ON COLUMN customer_order.claim_id IS 'The claim it was made under. In claim_outcome.';
COMMENT ON COLUMN customer_order.total_amount IS 'In the minor unit of currency; at most 2^53 - 1, what JSON numbers carry.';
COMMENT ON COLUMN customer_order.expires_at IS 'When it ends if it is not paid by then; NULL once it is paid.';
COMMENT ON COLUMN order_item.unit_price IS 'In the minor unit of the order''s currency.';
COMMENT ON COLUMN claim_outcome.outcome IS 'committed: an order or a coupon was made; released: nothing was, and nothing will be.';
COMMENT ON COLUMN claim_outcome.order_id IS 'What was made: the id of an order, or a coupon''s reference; NULL where released.';
COMMENT ON COLUMN admission_use.admission_id IS 'SHA-256 of the entry token.';
COMMENT ON COLUMN admission_use.seq IS 'The number in the queue, in its epoch, that was let in.';
COMMENT ON COLUMN admission_use.ref IS 'What was bought: the id of an order, or a coupon''s reference.';
COMMENT ON COLUMN outbox.attempts IS 'How often a reconcile has taken it.';
COMMENT ON COLUMN outbox.order_id IS 'Of kind consume also a coupon''s reference.';
COMMENT ON COLUMN outbox.key_hash IS 'SHA-256 of the key under which Redis answers a repeat.';

COMMENT ON COLUMN coupon_event.captcha IS 'What a request for a coupon has to bring: none, altcha (proof of work) or siteverify (a provider''s token).';
COMMENT ON COLUMN coupon.code IS 'What the member redeems.';
COMMENT ON COLUMN coupon.admission_id IS 'The admission spent on it. In admission_use.';

COMMENT ON COLUMN show.hold_ttl_seconds IS 'How long a member may hold a seat before ordering it.';
COMMENT ON COLUMN seat.price_amount IS 'In the minor unit of the show''s currency.';
COMMENT ON COLUMN order_seat.unit_price IS 'In the minor unit of the order''s currency.';

COMMENT ON TABLE payment_state IS 'The states of payment_states.tbl, which says what they mean.';
COMMENT ON COLUMN payment_state.is_open IS 'The order does not end before the payment has left such a state.';
COMMENT ON TABLE payment_transition IS
    'The transitions of payment_states.tbl, which says by what. Any other change is refused by payment_follow_state().';
COMMENT ON COLUMN payment.amount IS 'In the minor unit of currency, as tax_free, vat and canceled_amount.';
COMMENT ON COLUMN payment.tax_free IS 'The part of amount that bears no VAT.';
COMMENT ON COLUMN payment.vat IS 'The VAT contained in amount.';
COMMENT ON COLUMN payment.canceled_amount IS 'What the provider has given back so far.';
COMMENT ON COLUMN payment.redirect_url IS 'Where the member pays, at the provider.';
COMMENT ON COLUMN payment.session_ends_at IS 'End of the provider''s session.';
COMMENT ON COLUMN payment.needs_person IS 'Operators are asked to look at it.';
COMMENT ON COLUMN payment.last_error IS 'Why the last look or call brought nothing, for support.';

COMMENT ON COLUMN queue_history.rate_milli IS 'Rate in force, in members per 1000 seconds.';
COMMENT ON COLUMN queue_history.order_errors IS 'Orders that failed or timed out, counted as the others.';
COMMENT ON COLUMN queue_history.promised_seconds IS 'Wait promised to the last member let in; actual_seconds is what became of it.';
COMMENT ON COLUMN audit.actor IS 'Who did it: an operator, sluice for the programs themselves, or a login of the database.';
COMMENT ON COLUMN audit.details IS 'The object before and after, or what else was done.';
COMMENT ON TABLE schema_migration IS 'The migrations that were applied, by scripts/migrate.';
COMMENT ON COLUMN schema_migration.sha256 IS 'Of the file as it was applied: it must not change afterwards.';

COMMENT ON FUNCTION queue_goods IS 'Whether anything is sold or given out through a queue, and whether anything of it is left.';
COMMENT ON FUNCTION goods_end IS
    'When all that is left of what a queue sells will be over by itself; NULL: not all of it ever, or nothing is left.';
COMMENT ON FUNCTION place_order IS
    'Places an order in one transaction, or finds the one that the same key has made. Refusals are errors: 0003_place_order.sql.';
COMMENT ON FUNCTION settle_claim IS
    'How a claim ended; one that has not ended is released for good. Waits for a transaction that runs under it.';
COMMENT ON FUNCTION give_stock_back IS
    'Puts back what orders took, which the caller has locked and ends. True where something came back that was nearly or all gone.';
COMMENT ON FUNCTION expire_orders IS 'Ends unpaid orders whose time is over, except those with an open payment.';
COMMENT ON FUNCTION order_payment IS 'The word for the payment of an order, and until when it may be paid; NULL where neither applies.';
COMMENT ON FUNCTION take_seats IS 'Takes seats for an order, within place_order(). True where few others are left.';
COMMENT ON FUNCTION price_seats IS 'What seats of a show cost, or why that cannot be said.';
COMMENT ON FUNCTION give_seats_back IS 'The part of give_stock_back() that is about seats. The queues that perhaps sell again.';
COMMENT ON FUNCTION put_concert IS 'Creates a concert or replaces what is said of it.';
COMMENT ON FUNCTION put_seats IS 'Brings the plan of a show to these seats, within put_show().';
COMMENT ON FUNCTION put_show IS 'Creates a show or replaces what is said of it; p_seats NULL: its seats stay.';
COMMENT ON FUNCTION put_coupon_event IS 'Creates an event or replaces what is said of it. True for a new one.';
COMMENT ON FUNCTION live_coupon_events IS 'The events that Redis is told of: until a day after their end, the newest first.';
COMMENT ON FUNCTION coupon_event_of IS 'Of which event the coupon is that a claim or the outbox names; NULL for an order.';
COMMENT ON FUNCTION order_after_unpaid IS 'What becomes of the order of a payment that has just ended unpaid.';
COMMENT ON FUNCTION order_end IS 'Ends an order, which the caller has locked; its goods go back.';
COMMENT ON FUNCTION order_cancel IS 'Cancels a member''s own order, a paid one as far as CANCEL_REQUESTED.';
COMMENT ON FUNCTION order_title IS 'What a provider shows of an order.';
COMMENT ON FUNCTION payment_answer IS 'The answer of the other functions: the payment and its order as they are now.';
COMMENT ON FUNCTION payment_approve_begin IS 'READY to APPROVING, for one of all who try. Outcome: go, paid, confirming, refused.';
COMMENT ON FUNCTION payment_approve_undo IS 'Nothing was taken and the session goes on: APPROVING to READY. Outcome: done, stale.';
COMMENT ON FUNCTION payment_cancel_refused IS 'The provider refuses to give a payment back. Outcome: done, stale.';
COMMENT ON FUNCTION payment_canceled IS 'The provider has given p_canceled back. Outcome: done, same, partial, stale.';
COMMENT ON FUNCTION payment_follow_state IS 'Refuses a change that payment_transition does not have, and records the others in payment_event.';
COMMENT ON FUNCTION payment_hint IS 'There is news of a payment: it is looked at soon, at most once a second.';
COMMENT ON FUNCTION payment_lock IS 'Locks a payment, its order before it.';
COMMENT ON FUNCTION payment_look IS 'An operator wants a payment to be looked at now; whether it will be.';
COMMENT ON FUNCTION payment_move IS 'Changes the state, and when reconcile looks next; NULL: it is settled.';
COMMENT ON FUNCTION payment_note IS 'A look at a payment, or a call about it, brought nothing.';
COMMENT ON FUNCTION payment_open IS 'Begins to pay a member''s own order. Outcome: opened, same, in_progress, not_payable.';
COMMENT ON FUNCTION payment_paid IS 'The provider says that it is paid: PAID, or a refund where the order has ended. Outcome: done, same, refund, mismatch.';
COMMENT ON FUNCTION payment_pause IS 'How long after look number p_attempts that brought nothing the next one comes: 2 to 300 seconds.';
COMMENT ON FUNCTION payment_ready IS 'The provider has a session. Outcome: done, same, ended, stale.';
COMMENT ON FUNCTION payment_start_failed IS 'A payment could not be started, and is over. Outcome: done, same, stale.';
COMMENT ON FUNCTION payment_stop IS 'The member came back by cancel or fail: READY to STOPPED. Outcome: done, same, stale.';
COMMENT ON FUNCTION payment_unknown IS 'No clear answer came: APPROVING to UNKNOWN. Outcome: done, same, stale.';
COMMENT ON FUNCTION payments_due IS 'Takes payments to look at, each with one attempt more, for p_lease_seconds.';
