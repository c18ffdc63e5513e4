-- seats: the tables, views, types and functions after all migrations.
-- Written by scripts/schema from a migrated PostgreSQL: never run, and not to be edited. Changes are new files of sql/migrations.
-- Of functions there is the signature (of those that a constraint calls, all), below the last migration that defines one of
-- this name. Rights: sql/rights.sql.

-- What is played and where. Never deleted.
CREATE TABLE concert (
    id text COLLATE "C" NOT NULL,
    title text NOT NULL,
    venue text NOT NULL,
    description text NOT NULL DEFAULT ''::text,
    -- Raised by every change: an older copy in a cache does not replace a newer one.
    version bigint NOT NULL DEFAULT 1,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT concert_pkey PRIMARY KEY (id),
    CONSTRAINT concert_description_check CHECK (char_length(description) <= 4000),
    CONSTRAINT concert_id_check CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text),
    CONSTRAINT concert_title_check CHECK (char_length(title) >= 1 AND char_length(title) <= 200),
    CONSTRAINT concert_venue_check CHECK (char_length(venue) >= 1 AND char_length(venue) <= 200)
);

-- One performance of a concert, sold through one queue. Never deleted.
CREATE TABLE show (
    id text COLLATE "C" NOT NULL,
    concert text COLLATE "C" NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    queue text COLLATE "C" NOT NULL,
    max_seats_per_member integer NOT NULL DEFAULT 4,
    -- How long a member may hold a seat before ordering it.
    hold_ttl_seconds integer NOT NULL DEFAULT 300,
    -- Of all its seats; NULL until it has any.
    currency text COLLATE "C",
    -- Raised by every change of the show or its plan, not by orders.
    version bigint NOT NULL DEFAULT 1,
    created_at timestamp with time zone NOT NULL DEFAULT now(),
    updated_at timestamp with time zone NOT NULL DEFAULT now(),
    CONSTRAINT show_pkey PRIMARY KEY (id),
    CONSTRAINT show_concert_fkey FOREIGN KEY (concert) REFERENCES concert(id),
    CONSTRAINT show_queue_fkey FOREIGN KEY (queue) REFERENCES queue(id),
    CONSTRAINT show_currency_check CHECK (currency ~ '^[A-Z]{3}$'::text),
    CONSTRAINT show_hold_ttl_check CHECK (hold_ttl_seconds >= 1 AND hold_ttl_seconds <= 3600),
    CONSTRAINT show_id_check CHECK (id ~ '^[a-z0-9][a-z0-9-]{0,62}$'::text),
    CONSTRAINT show_max_seats_check CHECK (max_seats_per_member >= 1 AND max_seats_per_member <= 100)
);
-- Serves the catalogue: the shows of a concert.
CREATE INDEX show_concert_idx ON show (concert, starts_at, id);
-- Serves queue_goods() and shows_page.sql: what is sold through a queue.
CREATE INDEX show_queue_idx ON show (queue, id);

-- The plan of a show, written by put_show() alone, which knows the show: no foreign key. Vacuumed often: whoever looks for one that is left passes what is gone.
CREATE TABLE seat (
    show text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    -- Its place in the plan as it was given, from 1 on.
    "position" integer NOT NULL,
    section text NOT NULL DEFAULT ''::text,
    row_name text NOT NULL DEFAULT ''::text,
    number text NOT NULL DEFAULT ''::text,
    -- In the minor unit of the show's currency.
    price_amount bigint NOT NULL,
    -- How often it was ordered, paid or given back; 0: never ordered, so it may yet be taken out of the plan.
    change bigint NOT NULL DEFAULT 0,
    -- An order that lives has it.
    taken boolean NOT NULL DEFAULT false,
    CONSTRAINT seat_pkey PRIMARY KEY (show, id),
    CONSTRAINT seat_change_check CHECK (change >= 0 AND (change > 0 OR NOT taken)),
    CONSTRAINT seat_id_check CHECK (id ~ '^[A-Za-z0-9._-]{1,32}$'::text),
    CONSTRAINT seat_labels_check CHECK (GREATEST(char_length(section), char_length(row_name), char_length(number)) <= 64),
    CONSTRAINT seat_price_amount_check CHECK (price_amount >= 0 AND price_amount <= '1000000000000'::bigint)
) WITH (fillfactor=70, autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
-- Serves seats_left(): what is left.
CREATE INDEX seat_left_idx ON seat (show, (("position" + 0))) WHERE (NOT taken);

-- A seat of an order, at the price of its day.
CREATE TABLE order_seat (
    order_id text COLLATE "C" NOT NULL,
    show text COLLATE "C" NOT NULL,
    seat text COLLATE "C" NOT NULL,
    member text COLLATE "C" NOT NULL,
    -- In the minor unit of the order's currency.
    unit_price bigint NOT NULL,
    -- The order has the seat: from its own transaction on until it ends unsold.
    live boolean NOT NULL DEFAULT true,
    CONSTRAINT order_seat_pkey PRIMARY KEY (order_id, seat),
    CONSTRAINT order_seat_order_id_fkey FOREIGN KEY (order_id) REFERENCES customer_order(id),
    CONSTRAINT order_seat_unit_price_check CHECK (unit_price >= 0)
) WITH (fillfactor=80);
-- One owner a seat: the last word. Serves seat_state.
CREATE UNIQUE INDEX order_seat_live_key ON order_seat (show, seat) WHERE live;
-- Serves take_seats(): how many a member has.
CREATE INDEX order_seat_member_idx ON order_seat (member, show) WHERE live;

-- What has become of each seat, as Redis is told it: F free, O ordered and not paid, S sold; and whose it is.
CREATE VIEW seat_state AS
 SELECT s.show,
    s.id,
    s."position",
    s.price_amount,
    s.change,
        CASE
            WHEN NOT s.taken THEN 'F'::text
            WHEN o.status = ANY (ARRAY['PAID'::text, 'CANCEL_REQUESTED'::text]) THEN 'S'::text
            ELSE 'O'::text
        END AS state,
    l.member,
    l.order_id
   FROM seat s
     LEFT JOIN LATERAL ( SELECT i.member,
            i.order_id
           FROM order_seat i
          WHERE s.taken AND i.show = s.show AND i.seat = s.id AND i.live
         LIMIT 1) l ON true
     LEFT JOIN customer_order o ON o.id = l.order_id;

-- The part of give_stock_back() that is about seats. The queues that perhaps sell again.
-- 0012_seats.sql
-- FUNCTION give_seats_back(p_orders text[])
--     RETURNS text[] LANGUAGE plpgsql

-- What seats of a show cost, or why that cannot be said.
-- 0012_seats.sql
-- FUNCTION price_seats(p_queue text, p_show text, p_seats text[], OUT seats text[], OUT missing text, OUT total numeric, OUT currency text, OUT refusal text)
--     RETURNS record LANGUAGE plpgsql

-- Creates a concert or replaces what is said of it.
-- 0012_seats.sql
-- FUNCTION put_concert(p_id text, p_title text, p_venue text, p_description text, p_actor text, p_request_id text, OUT created boolean, OUT changed boolean, OUT outbox_row bigint)
--     RETURNS record LANGUAGE plpgsql SECURITY DEFINER

-- Brings the plan of a show to these seats, within put_show().
-- 0012_seats.sql
-- FUNCTION put_seats(p_show text, p_seats text[], p_sections text[], p_rows text[], p_numbers text[], p_prices bigint[], OUT added bigint, OUT changed bigint, OUT removed bigint)
--     RETURNS record LANGUAGE plpgsql

-- Creates a show or replaces what is said of it; p_seats NULL: its seats stay.
-- 0012_seats.sql
-- FUNCTION put_show(p_id text, p_concert text, p_starts_ms bigint, p_queue text, p_max_seats integer, p_hold_ttl_seconds integer, p_currency text, p_seats text[], p_sections text[], p_rows text[], p_numbers text[], p_prices bigint[], p_actor text, p_request_id text, OUT created boolean, OUT changed boolean, OUT left_queue text)
--     RETURNS record LANGUAGE plpgsql SECURITY DEFINER

-- How many seats nobody has ordered, counted up to p_limit; those that running transactions have taken are among them.
-- 0012_seats.sql
-- FUNCTION seats_left(p_show text, p_limit bigint)
--     RETURNS bigint LANGUAGE plpgsql

-- Numbers the change from ordered to sold, and has Redis told of it.
-- 0012_seats.sql
-- FUNCTION seats_paid()
--     RETURNS trigger LANGUAGE plpgsql

-- Takes seats for an order, within place_order(). True where few others are left.
-- 0012_seats.sql
-- FUNCTION take_seats(p_queue text, p_show text, p_member text, p_order text, p_seats text[], p_total bigint)
--     RETURNS boolean LANGUAGE plpgsql
