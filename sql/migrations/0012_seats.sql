-- 0012_seats: concerts, their shows, and seats that are sold one by one.
-- Purpose   concert, show, seat, order_seat; orders of seats in place_order(); what seats mean when an order ends,
--           and for sold out
-- Locks     ACCESS EXCLUSIVE on customer_order and on outbox for a moment: a column without a default and a trigger;
--           a check that reads the outbox, which is nearly empty
-- Undo      a new migration that drops them and restores place_order(), give_stock_back(), queue_goods()
--
-- How it hangs together. Redis decides who holds a seat for a while; these tables say who has it. A seat is
-- owned by at most one order that lives: order_seat_live_key. seat.taken says the same, so that whoever wants it
-- meets its row lock first. seat.change counts what became of a seat (ordered, paid, given back): Redis is told
-- the state with its number and ignores an older one. Whoever locks several seats does so by show and id.
--
--   SL017 a seat is taken (DETAIL: which, separated by spaces)
--   SL018 the show is not sold through this queue (no DETAIL), or has no such seat (DETAIL: which)
--   SL019 more seats than a member may have (DETAIL: has already/may have)
--   SL030 there is no such concert
--   SL031 seats that were ever ordered stay, and those ordered now keep their price (DETAIL: at most 100 of them)

CREATE TABLE concert (
    id          text COLLATE "C" NOT NULL,
    title       text NOT NULL,
    venue       text NOT NULL,
    description text NOT NULL DEFAULT '',
    version     bigint NOT NULL DEFAULT 1,
    created_at  timestamptz NOT NULL DEFAULT now(),
    updated_at  timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT concert_pkey PRIMARY KEY (id),
    CONSTRAINT concert_id_check CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    CONSTRAINT concert_title_check CHECK (char_length(title) BETWEEN 1 AND 200),
    CONSTRAINT concert_venue_check CHECK (char_length(venue) BETWEEN 1 AND 200),
    CONSTRAINT concert_description_check CHECK (char_length(description) <= 4000)
);
COMMENT ON TABLE concert IS 'What is played and where. Never deleted.';
COMMENT ON COLUMN concert.version IS 'Raised by every change: an older copy in a cache does not replace a newer one.';

CREATE TABLE show (
    id                   text COLLATE "C" NOT NULL,
    concert              text COLLATE "C" NOT NULL,
    starts_at            timestamptz NOT NULL,
    queue                text COLLATE "C" NOT NULL,
    max_seats_per_member integer NOT NULL DEFAULT 4,
    hold_ttl_seconds     integer NOT NULL DEFAULT 300,
    currency             text COLLATE "C",
    version              bigint NOT NULL DEFAULT 1,
    created_at           timestamptz NOT NULL DEFAULT now(),
    updated_at           timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT show_pkey PRIMARY KEY (id),
    CONSTRAINT show_concert_fkey FOREIGN KEY (concert) REFERENCES concert (id),
    CONSTRAINT show_queue_fkey FOREIGN KEY (queue) REFERENCES queue (id),
    CONSTRAINT show_id_check CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    CONSTRAINT show_max_seats_check CHECK (max_seats_per_member BETWEEN 1 AND 100),
    CONSTRAINT show_hold_ttl_check CHECK (hold_ttl_seconds BETWEEN 10 AND 3600),
    CONSTRAINT show_currency_check CHECK (currency ~ '^[A-Z]{3}$')
);
COMMENT ON TABLE show IS 'One performance of a concert, sold through one queue. Never deleted.';
COMMENT ON COLUMN show.currency IS 'Of all its seats; NULL until it has any.';
COMMENT ON COLUMN show.version IS 'Raised by every change of the show or its plan, not by orders.';
CREATE INDEX show_concert_idx ON show (concert, starts_at, id);
COMMENT ON INDEX show_concert_idx IS 'Serves the catalogue: the shows of a concert.';
CREATE INDEX show_queue_idx ON show (queue, id);
COMMENT ON INDEX show_queue_idx IS 'Serves queue_goods() and shows_page.sql: what is sold through a queue.';

CREATE TABLE seat (
    show         text COLLATE "C" NOT NULL,
    id           text COLLATE "C" NOT NULL,
    position     integer NOT NULL,
    section      text NOT NULL DEFAULT '',
    row_name     text NOT NULL DEFAULT '',
    number       text NOT NULL DEFAULT '',
    price_amount bigint NOT NULL,
    change       bigint NOT NULL DEFAULT 0,
    taken        boolean NOT NULL DEFAULT false,
    CONSTRAINT seat_pkey PRIMARY KEY (show, id),
    CONSTRAINT seat_id_check CHECK (id ~ '^[A-Za-z0-9._-]{1,32}$'),
    CONSTRAINT seat_labels_check CHECK (greatest(char_length(section), char_length(row_name), char_length(number)) <= 64),
    CONSTRAINT seat_price_amount_check CHECK (price_amount BETWEEN 0 AND 1000000000000),
    CONSTRAINT seat_change_check CHECK (change >= 0 AND (change > 0 OR NOT taken))
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);
COMMENT ON TABLE seat IS 'The plan of a show, written by put_show() alone, which knows the show: no foreign key. Vacuumed often: '
    'whoever looks for one that is left passes what is gone.';
COMMENT ON COLUMN seat.position IS 'Its place in the plan as it was given, from 1 on.';
COMMENT ON COLUMN seat.change IS 'How often it was ordered, paid or given back; 0: never ordered, so it may yet be taken out of the plan.';
COMMENT ON COLUMN seat.taken IS 'An order that lives has it.';
-- (position + 0), as in 0010: no other index gives this order, so that a planner with old statistics takes none
-- that reads every seat that is gone already.
CREATE INDEX seat_left_idx ON seat (show, (position + 0)) WHERE NOT taken;
COMMENT ON INDEX seat_left_idx IS 'Serves seats_left(): what is left.';

CREATE TABLE order_seat (
    order_id   text COLLATE "C" NOT NULL,
    show       text COLLATE "C" NOT NULL,
    seat       text COLLATE "C" NOT NULL,
    member     text COLLATE "C" NOT NULL,
    unit_price bigint NOT NULL,
    live       boolean NOT NULL DEFAULT true,
    CONSTRAINT order_seat_pkey PRIMARY KEY (order_id, seat),
    CONSTRAINT order_seat_order_id_fkey FOREIGN KEY (order_id) REFERENCES customer_order (id),
    CONSTRAINT order_seat_unit_price_check CHECK (unit_price >= 0)
) WITH (fillfactor = 80);
COMMENT ON TABLE order_seat IS 'A seat of an order, at the price of its day.';
COMMENT ON COLUMN order_seat.live IS 'The order has the seat: from its own transaction on until it ends unsold.';
CREATE UNIQUE INDEX order_seat_live_key ON order_seat (show, seat) WHERE live;
COMMENT ON INDEX order_seat_live_key IS 'One owner a seat: the last word. Serves seat_state.';
CREATE INDEX order_seat_member_idx ON order_seat (member, show) WHERE live;
COMMENT ON INDEX order_seat_member_idx IS 'Serves take_seats(): how many a member has.';

ALTER TABLE customer_order ADD COLUMN show text COLLATE "C";
COMMENT ON COLUMN customer_order.show IS 'The show whose seats were ordered; NULL for an order of items.';

ALTER TABLE outbox DROP CONSTRAINT outbox_kind_check;
ALTER TABLE outbox ADD COLUMN concert text COLLATE "C";
ALTER TABLE outbox ALTER COLUMN queue DROP NOT NULL;
ALTER TABLE outbox ADD CONSTRAINT outbox_kind_check CHECK ((queue IS NULL) = (kind = 'concert') AND CASE kind
    WHEN 'consume' THEN member IS NOT NULL AND order_id IS NOT NULL
        AND admission_id IS NOT NULL AND key_hash IS NOT NULL
    WHEN 'free_place' THEN member IS NOT NULL AND order_id IS NOT NULL
    WHEN 'seats' THEN order_id IS NOT NULL
    WHEN 'sold_out' THEN true
    WHEN 'concert' THEN concert IS NOT NULL
    ELSE false END);
COMMENT ON COLUMN outbox.kind IS 'consume: the token is spent; free_place: an unpaid order has ended; seats: something became of '
    'the seats of this order; sold_out: look again at what is left; concert: the catalogue has an older one.';
COMMENT ON COLUMN outbox.concert IS 'Of kind concert, which is of no queue.';

-- Here and below seats are looked up one by one, LATERAL or in a loop, where `= ANY (list)` would be shorter: right after a
-- large plan was put the planner believes that the show has hardly any seat, and would rather read them all.
CREATE VIEW seat_state AS
SELECT s.show, s.id, s.position, s.price_amount, s.change,
       CASE WHEN NOT s.taken THEN 'F' WHEN o.status IN ('PAID', 'CANCEL_REQUESTED') THEN 'S' ELSE 'O' END AS state,
       l.member, l.order_id
  FROM seat s
  LEFT JOIN LATERAL (
       SELECT i.member, i.order_id FROM order_seat i
        WHERE s.taken AND i.show = s.show AND i.seat = s.id AND i.live LIMIT 1) l ON true
  LEFT JOIN customer_order o ON o.id = l.order_id;
COMMENT ON VIEW seat_state IS 'What has become of each seat, as Redis is told it: F free, O ordered and not paid, S sold; and whose it is.';

-- As in 0003; seats are lines `id<TAB>price<TAB>change<TAB>section<TAB>row<TAB>number`, in the order of the plan.
CREATE OR REPLACE VIEW order_view AS
SELECT o.id, o.queue, o.status, o.total_amount, o.currency,
       (extract(epoch FROM o.created_at) * 1000000)::bigint AS created_us,
       (extract(epoch FROM o.expires_at) * 1000000)::bigint AS expires_us,
       (SELECT string_agg(concat_ws(':', i.sku, i.quantity, i.unit_price), ' ' ORDER BY i.sku)
          FROM order_item i WHERE i.order_id = o.id) AS items,
       o.place_held, o.member, o.idempotency_key, o.key_hash, o.fingerprint, o.admission_id,
       o.created_at, o.show,
       CASE WHEN o.show IS NOT NULL THEN
           (SELECT string_agg(concat_ws(E'\t', i.seat, i.unit_price, s.change, s.section, s.row_name, s.number),
                              E'\n' ORDER BY s.position, i.seat)
              FROM order_seat i JOIN seat s ON s.show = i.show AND s.id = i.seat
             WHERE i.order_id = o.id) END AS seats
  FROM customer_order o;
COMMENT ON VIEW order_view IS 'Serves order_find.sql, order_list.sql, order_by_key.sql, order_cancel.sql, place_order(), cancel_order().';

-- Volatile: the caller has waited for something and wants to see it. The planner's choices are taken away from
-- it, as in issue_coupon().
CREATE FUNCTION seats_left(p_show text, p_limit bigint) RETURNS bigint
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET enable_sort = off SET enable_bitmapscan = off AS $$
DECLARE
    v_left bigint;
BEGIN
    SELECT count(*) INTO v_left
      FROM (SELECT FROM seat s WHERE s.show = p_show AND NOT s.taken ORDER BY s.position + 0 LIMIT p_limit) AS few;
    RETURN v_left;
END $$;
COMMENT ON FUNCTION seats_left IS 'How many seats nobody has ordered, counted up to p_limit; those that running transactions have '
    'taken are among them.';

-- Takes seats (sorted, each once) for an order, within place_order(). p_total is what they cost when the order
-- was written: where a price has changed since, the caller tries anew (40001).
-- The member's lock comes first, so that two orders of a member see each other's seats. Then every row is locked,
-- in the order of ids, before any is written: two orders never wait for each other in a circle, and a refusal
-- names all that are taken.
-- Two that take the last ones cannot see each other, so whether all is gone shows only after the commit. Returns
-- true where so few others are left that somebody has to look then; should that miss the end, reconcile finds it.
CREATE FUNCTION take_seats(
    p_queue text, p_show text, p_member text, p_order text, p_seats text[], p_total bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_few CONSTANT bigint := 64;
    v_may bigint;
    v_has bigint;
    v_found bigint;
    v_total numeric;
    v_taken text;
    v_seat text;
    v_left bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(p_show || '/' || p_member, 5415));
    SELECT s.max_seats_per_member INTO v_may FROM show s WHERE s.id = p_show AND s.queue = p_queue;
    SELECT count(*) INTO v_has FROM order_seat i WHERE i.show = p_show AND i.member = p_member AND i.live;
    IF v_has + cardinality(p_seats) > v_may THEN
        RAISE EXCEPTION 'TOO_MANY_SEATS' USING ERRCODE = 'SL019', DETAIL = concat_ws('/', v_has, v_may);
    END IF;

    SELECT count(*), sum(locked.price_amount),
           string_agg(locked.id, ' ' ORDER BY locked.id) FILTER (WHERE locked.taken)
      INTO v_found, v_total, v_taken
      FROM unnest(p_seats) AS w (id)
      CROSS JOIN LATERAL (
           SELECT s.id, s.price_amount, s.taken FROM seat s
            WHERE s.show = p_show AND s.id = w.id FOR NO KEY UPDATE) AS locked;
    IF v_found < cardinality(p_seats) OR v_total <> p_total THEN
        RAISE EXCEPTION 'the plan has changed' USING ERRCODE = 'serialization_failure';
    ELSIF v_taken IS NOT NULL THEN
        RAISE EXCEPTION 'SEATS_TAKEN' USING ERRCODE = 'SL017', DETAIL = v_taken;
    END IF;

    WITH given AS (
        INSERT INTO order_seat (order_id, show, seat, member, unit_price)
        SELECT p_order, p_show, s.id, p_member, s.price_amount
          FROM unnest(p_seats) AS w (id)
          CROSS JOIN LATERAL (
               SELECT s.id, s.price_amount FROM seat s WHERE s.show = p_show AND s.id = w.id LIMIT 1) AS s
        ON CONFLICT (show, seat) WHERE live DO NOTHING RETURNING seat
    )
    SELECT string_agg(wanted, ' ') INTO v_taken
      FROM unnest(p_seats) AS wanted WHERE wanted NOT IN (SELECT given.seat FROM given);
    IF v_taken IS NOT NULL THEN
        RAISE EXCEPTION 'SEATS_TAKEN' USING ERRCODE = 'SL017', DETAIL = v_taken;
    END IF;
    FOREACH v_seat IN ARRAY p_seats LOOP
        UPDATE seat s SET taken = true, change = s.change + 1 WHERE s.show = p_show AND s.id = v_seat;
    END LOOP;
    INSERT INTO outbox (queue, kind, member, order_id) VALUES (p_queue, 'seats', p_member, p_order);

    v_left := seats_left(p_show, v_few);
    IF v_left = 0 THEN
        INSERT INTO outbox (queue, kind) VALUES (p_queue, 'sold_out');
    END IF;
    RETURN v_left < v_few;
END $$;

-- What seats of a show cost that is sold through p_queue: sorted, each with its price. `refusal` where that
-- cannot be said, and which are missing.
CREATE FUNCTION price_seats(p_queue text, p_show text, p_seats text[],
    OUT seats text[], OUT missing text, OUT total numeric, OUT currency text, OUT refusal text)
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
#variable_conflict use_column
BEGIN
    SELECT s.currency INTO currency FROM show s WHERE s.id = p_show AND s.queue = p_queue;
    IF NOT FOUND THEN
        refusal := 'SL018';
        RETURN;
    END IF;
    SELECT array_agg(w.id ORDER BY w.id COLLATE "C"),
           string_agg(w.id, ' ' ORDER BY w.id COLLATE "C") FILTER (WHERE s.id IS NULL), sum(s.price_amount)
      INTO seats, missing, total
      FROM unnest(p_seats) AS w (id)
      LEFT JOIN LATERAL (
           SELECT x.id, x.price_amount FROM seat x WHERE x.show = p_show AND x.id = w.id LIMIT 1) AS s ON true;
    IF missing IS NOT NULL THEN
        refusal := 'SL018';
    END IF;
END $$;

-- Places an order, or finds the one that the same key has made. Arguments: queue, incarnation, epoch and
-- number as the claim gave them; member; idempotency key, its hash, and the request's fingerprint; claim
-- and admission to spend; the id that a new order gets; SKUs (each once) and quantities; seconds until an
-- unpaid order expires; whether its place stays taken until then; the show and its seats (each once) where
-- seats are ordered, and then no SKUs. The release before leaves these two out.
-- Returns one row: the order, whether it is an earlier one (then nothing was written), the admission that
-- it spent, and whether this order took the last of something (of seats: perhaps, see take_seats()).
-- DETAIL of SL004 is `order id/key hash/t or f`, the latter telling whether that order holds its place.
-- Volatile, and one statement after the other: each takes a new snapshot, so that what was waited for is
-- seen. Stock and seats come last, for their rows are those that everybody wants, and in the order of SKUs
-- and of ids, so that two orders never wait for each other.
-- An order of seats relies on what put_show() does: whoever orders holds the queue's lock shared, and a show
-- changes its queue or its currency under the exclusive one; anything else shows in the seats' own rows.
DROP FUNCTION place_order(
    text, bigint, bigint, bigint, text, text, text, text, text, text, text, text[], integer[], bigint, boolean);
CREATE FUNCTION place_order(
    p_queue text, p_incarnation bigint, p_epoch bigint, p_seq bigint, p_member text,
    p_key text, p_key_hash text, p_fingerprint text, p_claim text, p_admission text, p_order text,
    p_skus text[], p_quantities integer[], p_ttl_seconds bigint, p_keep_place boolean,
    p_show text DEFAULT NULL, p_seats text[] DEFAULT NULL)
RETURNS TABLE (
    id text, queue text, status text, total_amount bigint, currency text, created_us bigint,
    expires_us bigint, items text, place_held boolean, replayed boolean, admission_id text,
    took_last boolean, show text, seats text)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    v_incarnation bigint;
    v_epoch bigint;
    v_skus text[];
    v_quantities integer[];
    v_seats text[];
    v_prices bigint[];
    v_missing text;
    v_total numeric;
    v_currency text;
    v_other_currency text;
    v_refusal text;
    v_detail text := '';
    v_inserted boolean := false;
    v_before order_view%ROWTYPE;
    v_status text;
    v_expires timestamptz;
    v_left bigint;
    v_took_last boolean := false;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(queue_lock_number(p_queue));
    SELECT q.incarnation, q.epoch INTO v_incarnation, v_epoch
      FROM queue q WHERE q.id = p_queue AND q.deleted_at IS NULL;
    IF v_incarnation IS NULL THEN
        RAISE EXCEPTION 'QUEUE_GONE' USING ERRCODE = 'SL009';
    ELSIF v_incarnation <> p_incarnation THEN
        RAISE EXCEPTION 'INCARNATION' USING ERRCODE = 'SL001';
    END IF;

    IF p_show IS NOT NULL THEN
        SELECT w.seats, w.missing, w.total, w.currency, w.currency, w.refusal
          INTO v_seats, v_missing, v_total, v_currency, v_other_currency, v_refusal
          FROM price_seats(p_queue, p_show, p_seats) AS w;
    ELSE
        SELECT array_agg(i.sku ORDER BY i.sku COLLATE "C"),
               array_agg(i.quantity ORDER BY i.sku COLLATE "C"),
               array_agg(p.price_amount ORDER BY i.sku COLLATE "C"),
               min(i.sku) FILTER (WHERE p.sku IS NULL),
               sum(p.price_amount * i.quantity), min(p.currency), max(p.currency)
          INTO v_skus, v_quantities, v_prices, v_missing, v_total, v_currency, v_other_currency
          FROM unnest(p_skus, p_quantities) AS i (sku, quantity)
          LEFT JOIN product p ON p.sku = i.sku AND p.queue = p_queue;
    END IF;
    IF v_refusal IS NOT NULL THEN
        v_detail := COALESCE(v_missing, '');
    ELSIF v_missing IS NOT NULL THEN
        v_refusal := 'SL006';
        v_detail := v_missing;
    ELSIF v_currency <> v_other_currency THEN
        v_refusal := 'SL007';
    ELSIF v_total > 9007199254740991 THEN
        v_refusal := 'SL008';
    ELSE
        v_status := CASE v_total WHEN 0 THEN 'PAID' ELSE 'PENDING_PAYMENT' END;
        v_expires := CASE WHEN v_total > 0 THEN now() + make_interval(secs => p_ttl_seconds) END;
        INSERT INTO customer_order (id, queue, member, idempotency_key, key_hash, fingerprint,
                admission_id, claim_id, status, total_amount, currency, expires_at, place_held, show)
            VALUES (p_order, p_queue, p_member, p_key, p_key_hash, p_fingerprint,
                p_admission, p_claim, v_status, v_total, v_currency, v_expires,
                p_keep_place AND v_total > 0, p_show)
            ON CONFLICT (member, idempotency_key) DO NOTHING;
        v_inserted := FOUND;
    END IF;

    IF NOT v_inserted THEN
        SELECT * INTO v_before
          FROM order_view o WHERE o.member = p_member AND o.idempotency_key = p_key;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'the order cannot be placed'
                USING ERRCODE = COALESCE(v_refusal, 'XX000'), DETAIL = v_detail;
        ELSIF v_before.fingerprint <> p_fingerprint THEN
            RAISE EXCEPTION 'KEY_REUSED' USING ERRCODE = 'SL002';
        END IF;
        RETURN QUERY SELECT v_before.id, v_before.queue, v_before.status, v_before.total_amount,
            v_before.currency, v_before.created_us, v_before.expires_us, v_before.items,
            v_before.place_held, true, v_before.admission_id, false, v_before.show, v_before.seats;
        RETURN;
    END IF;

    -- Only now: a repeat of an order from before the reset has been answered.
    IF v_epoch <> p_epoch THEN
        RAISE EXCEPTION 'EPOCH' USING ERRCODE = 'SL013';
    END IF;

    INSERT INTO claim_outcome (claim_id, outcome, order_id) VALUES (p_claim, 'committed', p_order)
        ON CONFLICT (claim_id) DO NOTHING;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'CLAIM_RELEASED' USING ERRCODE = 'SL003';
    END IF;

    INSERT INTO admission_use (admission_id, queue, epoch, seq, kind, ref)
        VALUES (p_admission, p_queue, p_epoch, p_seq, 'order', p_order)
        ON CONFLICT (admission_id) DO NOTHING;
    IF NOT FOUND THEN
        SELECT concat_ws('/', u.ref, COALESCE(o.key_hash, ''), COALESCE(o.place_held, false))
          INTO v_detail
          FROM admission_use u LEFT JOIN customer_order o ON o.id = u.ref AND u.kind = 'order'
         WHERE u.admission_id = p_admission;
        RAISE EXCEPTION 'ADMISSION_SPENT' USING ERRCODE = 'SL004', DETAIL = v_detail;
    END IF;

    INSERT INTO order_item (order_id, sku, quantity, unit_price)
        SELECT p_order, i.sku, i.quantity, i.price
          FROM unnest(v_skus, v_quantities, v_prices) AS i (sku, quantity, price);
    INSERT INTO outbox (queue, kind, member, order_id, admission_id, key_hash)
        VALUES (p_queue, 'consume', p_member, p_order, p_admission, p_key_hash);

    IF p_show IS NOT NULL THEN
        v_took_last := take_seats(p_queue, p_show, p_member, p_order, v_seats, v_total::bigint);
        RETURN QUERY SELECT o.id, o.queue, o.status, o.total_amount, o.currency, o.created_us, o.expires_us,
            o.items, o.place_held, false, o.admission_id, v_took_last, o.show, o.seats
          FROM order_view o WHERE o.id = p_order;
        RETURN;
    END IF;
    FOR n IN 1 .. cardinality(v_skus) LOOP
        UPDATE product p SET available = p.available - v_quantities[n]
         WHERE p.sku = v_skus[n] AND p.queue = p_queue AND p.available >= v_quantities[n]
        RETURNING p.available INTO v_left;
        IF NOT FOUND THEN
            RAISE EXCEPTION 'OUT_OF_STOCK' USING ERRCODE = 'SL005', DETAIL = v_skus[n];
        END IF;
        v_took_last := v_took_last OR v_left = 0;
    END LOOP;
    IF v_took_last THEN
        INSERT INTO outbox (queue, kind) VALUES (p_queue, 'sold_out');
    END IF;

    RETURN QUERY SELECT p_order, p_queue, v_status, v_total::bigint, v_currency,
        (extract(epoch FROM now()) * 1000000)::bigint,
        (extract(epoch FROM v_expires) * 1000000)::bigint,
        (SELECT string_agg(concat_ws(':', i.sku, i.quantity, i.price), ' ' ORDER BY i.n)
           FROM unnest(v_skus, v_quantities, v_prices) WITH ORDINALITY AS i (sku, quantity, price, n)),
        p_keep_place AND v_total > 0, false, p_admission, v_took_last, NULL::text, NULL::text;
END $$;

-- Puts back what these orders took. The caller has locked them and marks them in the same transaction.
-- In the order of SKUs, then of shows and seats, like place_order(): nobody waits in a circle.
-- Returns true where something came back that was all gone, or of a show that was nearly so: see take_seats().
CREATE OR REPLACE FUNCTION give_stock_back(p_orders text[]) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_item record;
    v_left bigint;
    v_queue text;
    v_queues text[] := '{}';
BEGIN
    FOR v_item IN
        SELECT i.sku, sum(i.quantity)::bigint AS quantity
          FROM order_item i WHERE i.order_id = ANY (p_orders) GROUP BY i.sku ORDER BY i.sku
    LOOP
        UPDATE product p SET available = p.available + v_item.quantity WHERE p.sku = v_item.sku
        RETURNING p.available, p.queue INTO v_left, v_queue;
        IF v_left = v_item.quantity AND v_queue <> ALL (v_queues) THEN
            v_queues := v_queues || v_queue;
        END IF;
    END LOOP;
    v_queues := v_queues || give_seats_back(p_orders);
    INSERT INTO outbox (queue, kind) SELECT DISTINCT q, 'sold_out' FROM unnest(v_queues) AS q;
    RETURN v_queues <> '{}';
END $$;

-- The part of give_stock_back() that is about seats. Returns the queues that perhaps sell again.
CREATE FUNCTION give_seats_back(p_orders text[]) RETURNS text[]
LANGUAGE plpgsql VOLATILE SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off AS $$
DECLARE
    v_few CONSTANT bigint := 64;
    v_shows text[];
    v_queues text[] := '{}';
    v_back record;
BEGIN
    SELECT array_agg(DISTINCT o.show) INTO v_shows
      FROM customer_order o WHERE o.id = ANY (p_orders) AND o.show IS NOT NULL;
    IF v_shows IS NULL THEN
        RETURN v_queues;
    END IF;
    PERFORM FROM order_seat i JOIN seat s ON s.show = i.show AND s.id = i.seat
      WHERE i.order_id = ANY (p_orders) AND i.live
      ORDER BY s.show, s.id FOR NO KEY UPDATE OF s;
    WITH ended AS (
        UPDATE order_seat i SET live = false WHERE i.order_id = ANY (p_orders) AND i.live
        RETURNING i.order_id, i.show, i.seat
    ), freed AS (
        UPDATE seat s SET taken = false, change = s.change + 1
          FROM ended e WHERE s.show = e.show AND s.id = e.seat
        RETURNING e.order_id
    )
    INSERT INTO outbox (queue, kind, member, order_id)
    SELECT o.queue, 'seats', o.member, o.id
      FROM customer_order o WHERE o.id IN (SELECT f.order_id FROM freed f) ORDER BY o.id;
    FOR v_back IN
        SELECT s.queue, count(*) AS back
          FROM order_seat i JOIN show s ON s.id = i.show
         WHERE i.order_id = ANY (p_orders) GROUP BY s.id, s.queue
        HAVING seats_left(s.id, count(*) + v_few) < count(*) + v_few
    LOOP
        v_queues := v_queues || v_back.queue;
    END LOOP;
    RETURN v_queues;
END $$;

-- The seats of an order that is paid change from ordered to sold, whoever takes the money.
CREATE FUNCTION seats_paid() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
    v_seats text[];
    v_seat text;
BEGIN
    SELECT array_agg(i.seat ORDER BY i.seat) INTO v_seats FROM order_seat i WHERE i.order_id = NEW.id AND i.live;
    IF v_seats IS NOT NULL THEN
        FOREACH v_seat IN ARRAY v_seats LOOP
            UPDATE seat s SET change = s.change + 1 WHERE s.show = NEW.show AND s.id = v_seat;
        END LOOP;
        INSERT INTO outbox (queue, kind, member, order_id) VALUES (NEW.queue, 'seats', NEW.member, NEW.id);
    END IF;
    RETURN NULL;
END $$;
COMMENT ON FUNCTION seats_paid IS 'Numbers the change from ordered to sold, and has Redis told of it.';
CREATE TRIGGER customer_order_seats_paid_trigger AFTER UPDATE OF status ON customer_order
    FOR EACH ROW WHEN (NEW.show IS NOT NULL AND NEW.status = 'PAID' AND OLD.status <> 'PAID')
    EXECUTE FUNCTION seats_paid();

-- As in 0010, and of shows: one without seats is not there yet.
CREATE OR REPLACE FUNCTION queue_goods(p_queue text, OUT sells boolean, OUT is_left boolean)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_event record;
    v_show record;
BEGIN
    SELECT count(*) > 0, COALESCE(bool_or(p.available > 0), false) INTO sells, is_left
      FROM product p WHERE p.queue = p_queue;
    FOR v_event IN
        SELECT e.id, e.ends_at <= clock_timestamp() AS over FROM coupon_event e WHERE e.queue = p_queue
    LOOP
        EXIT WHEN is_left;
        is_left := v_event.over IS NOT TRUE AND coupons_left(v_event.id);
        sells := sells OR is_left OR EXISTS (SELECT FROM coupon c WHERE c.event = v_event.id);
    END LOOP;
    FOR v_show IN SELECT s.id FROM show s WHERE s.queue = p_queue LOOP
        EXIT WHEN is_left;
        is_left := seats_left(v_show.id, 1) > 0;
        sells := sells OR is_left OR EXISTS (SELECT FROM seat s WHERE s.show = v_show.id);
    END LOOP;
END $$;

-- As in 0011, and of shows: a seat is on sale for as long as its queue is.
CREATE OR REPLACE FUNCTION goods_end(p_queue text) RETURNS timestamptz
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_end timestamptz;
    v_endless boolean;
    v_show record;
BEGIN
    IF EXISTS (SELECT FROM product p WHERE p.queue = p_queue AND p.available > 0) THEN
        RETURN NULL;
    END IF;
    FOR v_show IN SELECT s.id FROM show s WHERE s.queue = p_queue LOOP
        IF seats_left(v_show.id, 1) > 0 THEN
            RETURN NULL;
        END IF;
    END LOOP;
    SELECT max(e.ends_at), bool_or(e.ends_at IS NULL) INTO v_end, v_endless
      FROM coupon_event e
     WHERE e.queue = p_queue AND (e.ends_at IS NULL OR e.ends_at > clock_timestamp()) AND coupons_left(e.id);
    RETURN CASE WHEN NOT v_endless THEN v_end END;
END $$;

-- Creates a concert or replaces what is said of it; the same again writes nothing. outbox_row: to be struck once the
-- catalogue has been told.
CREATE FUNCTION put_concert(p_id text, p_title text, p_venue text, p_description text,
    p_actor text, p_request_id text, OUT created boolean, OUT changed boolean, OUT outbox_row bigint)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_old concert%ROWTYPE;
    v_new concert%ROWTYPE;
BEGIN
    INSERT INTO concert (id, title, venue, description) VALUES (p_id, p_title, p_venue, p_description)
        ON CONFLICT (id) DO NOTHING RETURNING * INTO v_new;
    created := FOUND;
    IF NOT created THEN
        SELECT * INTO v_old FROM concert c WHERE c.id = p_id FOR NO KEY UPDATE;
        UPDATE concert c
           SET title = p_title, venue = p_venue, description = p_description, version = c.version + 1,
               updated_at = now()
         WHERE c.id = p_id AND (c.title, c.venue, c.description) IS DISTINCT FROM (p_title, p_venue, p_description)
        RETURNING * INTO v_new;
    END IF;
    changed := v_new.id IS NOT NULL;
    IF changed THEN
        INSERT INTO audit (actor, action, target, request_id, details)
        VALUES (p_actor, CASE WHEN created THEN 'create' ELSE 'change' END, 'concert/' || p_id, p_request_id,
            jsonb_build_object('before', CASE WHEN NOT created THEN to_jsonb(v_old) END, 'after', to_jsonb(v_new)));
        INSERT INTO outbox (kind, concert) VALUES ('concert', p_id) RETURNING outbox.id INTO outbox_row;
    END IF;
END $$;

-- Brings the plan of a show to these seats: see put_show(), under whose lock no other put of the show runs. What is to change is
-- locked in the order of ids before it is looked at, so that an order which was faster is seen.
-- The planner knows neither how long the lists are nor, right after the first plan, how many seats there are:
-- a nested loop would take minutes.
CREATE FUNCTION put_seats(p_show text, p_seats text[], p_sections text[], p_rows text[], p_numbers text[],
    p_prices bigint[], OUT added bigint, OUT changed bigint, OUT removed bigint)
LANGUAGE plpgsql VOLATILE SET enable_nestloop = off AS $$
DECLARE
    v_fixed text;
    v_differs bigint;
BEGIN
    SELECT count(*), string_agg(d.id, ' ' ORDER BY d.id) FILTER (WHERE d.fixed)
      INTO v_differs, v_fixed
      FROM (SELECT s.id, CASE WHEN g.id IS NULL THEN s.change > 0
                         ELSE s.taken AND s.price_amount <> g.price END AS fixed
              FROM seat s
              LEFT JOIN unnest(p_seats, p_sections, p_rows, p_numbers, p_prices) WITH ORDINALITY
                   AS g (id, section, row_name, number, price, n) ON g.id = s.id
             WHERE s.show = p_show AND (s.position, s.section, s.row_name, s.number, s.price_amount)
                   IS DISTINCT FROM (g.n, g.section, g.row_name, g.number, g.price)
             ORDER BY s.id FOR UPDATE OF s) AS d;
    IF v_fixed IS NOT NULL THEN
        RAISE EXCEPTION 'SEATS_FIXED' USING ERRCODE = 'SL031',
            DETAIL = array_to_string((string_to_array(v_fixed, ' '))[1:100], ' ');
    END IF;
    removed := 0;
    changed := 0;
    IF v_differs > 0 THEN
        DELETE FROM seat s WHERE s.show = p_show AND NOT EXISTS (SELECT FROM unnest(p_seats) AS g WHERE g = s.id);
        GET DIAGNOSTICS removed = ROW_COUNT;
        UPDATE seat s
           SET position = g.n, section = g.section, row_name = g.row_name, number = g.number, price_amount = g.price
          FROM unnest(p_seats, p_sections, p_rows, p_numbers, p_prices) WITH ORDINALITY
               AS g (id, section, row_name, number, price, n)
         WHERE s.show = p_show AND s.id = g.id
           AND (s.position, s.section, s.row_name, s.number, s.price_amount)
               IS DISTINCT FROM (g.n, g.section, g.row_name, g.number, g.price);
        GET DIAGNOSTICS changed = ROW_COUNT;
    END IF;
    INSERT INTO seat (show, id, position, section, row_name, number, price_amount)
    SELECT p_show, g.id, g.n, g.section, g.row_name, g.number, g.price
      FROM unnest(p_seats, p_sections, p_rows, p_numbers, p_prices) WITH ORDINALITY
           AS g (id, section, row_name, number, price, n)
     WHERE NOT EXISTS (SELECT FROM seat s WHERE s.show = p_show AND s.id = g.id)
     ORDER BY g.n;
    GET DIAGNOSTICS added = ROW_COUNT;
END $$;

-- Creates a show or replaces what is said of it; p_seats NULL: its seats stay as they are. The same again writes
-- nothing. Seats come as five lists of one length, each id once, in the order of the plan.
-- Orders lock single seats, so a plan may change while they run. They also rely on the show's queue and
-- currency: these change under the exclusive lock of the queue alone, and only while no order has any seat.
-- A large plan takes its time, so the rows of queue and concert are locked last, when all else is done: whoever
-- pauses the queue meanwhile does not wait. Two puts of one show go one after the other by a lock of its name.
-- Returns whether it is new, whether anything changed, and the queue that it left, if it did.
CREATE FUNCTION put_show(
    p_id text, p_concert text, p_starts_ms bigint, p_queue text, p_max_seats integer, p_hold_ttl_seconds integer,
    p_currency text, p_seats text[], p_sections text[], p_rows text[], p_numbers text[], p_prices bigint[],
    p_actor text, p_request_id text, OUT created boolean, OUT changed boolean, OUT left_queue text)
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    v_starts timestamptz := 'epoch'::timestamptz + p_starts_ms * interval '1 millisecond';
    v_old show%ROWTYPE;
    v_new show%ROWTYPE;
    v_currency text;
    v_live text;
    v_seats record;
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended(p_id, 5416));
    SELECT * INTO v_old FROM show s WHERE s.id = p_id;
    created := NOT FOUND;
    v_currency := COALESCE(p_currency, v_old.currency);
    IF v_old.queue <> p_queue OR v_old.currency <> v_currency THEN
        PERFORM pg_advisory_xact_lock(queue_lock_number(v_old.queue));
        SELECT string_agg(few.seat, ' ' ORDER BY few.seat) INTO v_live
          FROM (SELECT i.seat FROM order_seat i WHERE i.show = p_id AND i.live ORDER BY i.seat LIMIT 100) AS few;
        IF v_live IS NOT NULL AND v_old.queue <> p_queue THEN
            RAISE EXCEPTION 'QUEUE_FIXED' USING ERRCODE = 'SL012', DETAIL = v_old.queue;
        ELSIF v_live IS NOT NULL THEN
            RAISE EXCEPTION 'SEATS_FIXED' USING ERRCODE = 'SL031', DETAIL = v_live;
        END IF;
    END IF;

    SELECT 0::bigint AS added, 0::bigint AS changed, 0::bigint AS removed INTO v_seats;
    IF p_seats IS NOT NULL THEN
        SELECT * INTO v_seats FROM put_seats(p_id, p_seats, p_sections, p_rows, p_numbers, p_prices);
    END IF;
    PERFORM FROM queue q WHERE q.id = p_queue AND q.deleted_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'QUEUE_GONE' USING ERRCODE = 'SL009';
    END IF;
    PERFORM FROM concert c WHERE c.id = p_concert FOR KEY SHARE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'CONCERT_GONE' USING ERRCODE = 'SL030';
    END IF;
    changed := created OR v_seats.added + v_seats.changed + v_seats.removed > 0
        OR (v_old.concert, v_old.starts_at, v_old.queue, v_old.max_seats_per_member, v_old.hold_ttl_seconds,
            v_old.currency)
           IS DISTINCT FROM (p_concert, v_starts, p_queue, p_max_seats, p_hold_ttl_seconds, v_currency);
    IF NOT changed THEN
        RETURN;
    ELSIF created THEN
        INSERT INTO show (id, concert, starts_at, queue, max_seats_per_member, hold_ttl_seconds, currency)
            VALUES (p_id, p_concert, v_starts, p_queue, p_max_seats, p_hold_ttl_seconds, v_currency)
            RETURNING * INTO v_new;
    ELSE
        UPDATE show s
           SET concert = p_concert, starts_at = v_starts, queue = p_queue, max_seats_per_member = p_max_seats,
               hold_ttl_seconds = p_hold_ttl_seconds, currency = v_currency, version = s.version + 1,
               updated_at = now()
         WHERE s.id = p_id RETURNING * INTO v_new;
        left_queue := NULLIF(v_old.queue, p_queue);
    END IF;
    INSERT INTO outbox (queue, kind) VALUES (p_queue, 'sold_out');
    IF left_queue IS NOT NULL THEN
        INSERT INTO outbox (queue, kind) VALUES (left_queue, 'sold_out');
    END IF;
    INSERT INTO audit (actor, action, target, request_id, details)
    VALUES (p_actor, CASE WHEN created THEN 'create' ELSE 'change' END, 'show/' || p_id, p_request_id,
        jsonb_build_object('before', CASE WHEN NOT created THEN to_jsonb(v_old) END,
            'after', to_jsonb(v_new) || jsonb_build_object('seats', to_jsonb(v_seats))));
END $$;
