/*
 * Ordering through Sluice's API: the entry token of the visitor's place is good for one order. api.js comes before
 * this.
 *
 * An attempt keeps its Idempotency-Key and its token in sessionStorage until its outcome is known, so that a
 * double click, a lost answer and a reload all repeat the same request: the API then makes one order.
 */
(function (shop) {
    'use strict';

    const QUEUE = 'shop';
    const { Lost, isBusy, persist } = shop;

    function randomKey() {
        if (crypto.randomUUID)
            return crypto.randomUUID();
        // Old browsers, and pages without TLS.
        const bytes = crypto.getRandomValues(new Uint8Array(16));
        return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
    }

    const attempts = {
        unstored: {},
        name: (sku) => `shop.attempt.${sku}`,
        /** The attempt whose outcome is still unknown, {key, token, since}, or null. */
        get(sku) {
            // Storage may be forbidden or full: then an attempt lives as long as the page.
            if (this.unstored[sku])
                return this.unstored[sku];
            try {
                return JSON.parse(sessionStorage.getItem(this.name(sku)));
            } catch (error) {
                return null;
            }
        },
        keep(sku, attempt) {
            this.unstored[sku] = attempt;
            try {
                sessionStorage.setItem(this.name(sku), JSON.stringify(attempt));
            } catch (error) {
                return;
            }
        },
        end(sku) {
            delete this.unstored[sku];
            try {
                sessionStorage.removeItem(this.name(sku));
            } catch (error) {
                return;
            }
        },
    };

    /** The message to the visitor: a text, the action of the button below it, and a reference for support. */
    function notice(text, action, answer) {
        const isOurFault = action === 'retry' && answer && answer.status >= 500;
        return { text, action, reference: isOurFault ? answer.body.instance : undefined };
    }

    const REFUSED_TURN = {
        UNAUTHENTICATED: ['noPlace', 'shop'],
        TICKET_INVALID: ['noPlace', 'shop'],
        SESSION_REVOKED: ['noPlace', 'shop'],
        QUEUE_RESET: ['turnSpent', 'lineUp'],
        NOT_FOUND: ['notSold', 'shop'],
    };
    const REFUSED_ORDER = {
        OUT_OF_STOCK: ['outOfStock', 'shop'],
        SEATS_TAKEN: ['seatsGone', 'seats'],
        SEAT_NOT_HELD: ['seatsRanOut', 'seats'],
        UNKNOWN_SEAT: ['seatsUnknown', 'seats'],
        TOO_MANY_SEATS: ['seatsTooMany', 'seats'],
        ENTRY_TOKEN_INVALID: ['turnEnded', 'shop'],
        ENTRY_TOKEN_REQUIRED: ['turnEnded', 'shop'],
        UNAUTHENTICATED: ['noPlace', 'shop'],
        INVALID_REQUEST: ['notSold', 'shop'],
        NOT_FOUND: ['notSold', 'shop'],
    };
    const REFUSED_ENTRY = {
        SOLD_OUT: ['soldOut', 'orders'],
        QUEUE_CLOSED: ['closed', 'orders'],
        ALREADY_ACTIVE: ['unpaid', 'orders'],
        NOT_FOUND: ['notSold', 'shop'],
    };

    function refused(table, answer) {
        if (isBusy(answer))
            return notice('busyLong', 'retry');
        const [text, action] = table[answer.code] || ['failed', 'retry'];
        return { ...notice(text, action, answer), answer };
    }

    /** Fetches the entry token. Returns {position} or a notice. */
    async function askTurn(onBusy, queue = QUEUE) {
        const answer = await persist(onBusy, 'GET', `/v1/queues/${queue}/position`);
        if (answer.status !== 200)
            return refused(REFUSED_TURN, answer);
        if (answer.body.status === 'WAITING')
            return notice('stillWaiting', 'shop');
        return answer.body.entryToken ? { position: answer.body } : notice('turnSpent', 'lineUp');
    }

    /** Searches for the order of an attempt whose answer was lost and whose token has been forgotten by now. Returns
     *  {known, order}: `known` is false where the list cannot be read. */
    async function findOrder(goods, since, onBusy) {
        const answer = await persist(onBusy, 'GET', '/v1/orders');
        if (answer.status !== 200)
            return { known: false };
        return { known: true, order: answer.body.orders.find((order) => order.createdAt >= since && goods.areIn(order)) };
    }

    /** Begins an attempt, or continues the one whose outcome is unknown. Returns {attempt, again} or a notice. */
    async function begin(goods, onBusy) {
        const open = attempts.get(goods.name);
        if (open)
            return { attempt: open, again: true };
        const turn = await askTurn(onBusy, goods.body.queue);
        if (!turn.position)
            return turn;
        const attempt = {
            key: randomKey(),
            token: turn.position.entryToken,
            since: turn.position.serverTime,
            body: goods.body,
        };
        attempts.keep(goods.name, attempt);
        return { attempt, again: false };
    }

    async function send(goods, { attempt, again }, onBusy) {
        const answer = await persist(onBusy, 'POST', '/v1/orders', {
            headers: { 'X-Entry-Token': attempt.token, 'Idempotency-Key': attempt.key },
            body: attempt.body,
        });
        let order = answer.status === 200 || answer.status === 201 ? answer.body : undefined;
        if (answer.code === 'ENTRY_TOKEN_INVALID' && again) {
            const found = await findOrder(goods, attempt.since, onBusy);
            if (!found.known)
                return notice('lost', 'retry');
            order = found.order;
        }
        const result = order ? { order } : refused(REFUSED_ORDER, answer);
        // Without a login nothing is learned about an order that an earlier request may have made.
        const isOpen = again && answer.code === 'UNAUTHENTICATED';
        if (result.action !== 'retry' && !isOpen || answer.code === 'IDEMPOTENCY_KEY_REUSED')
            attempts.end(goods.name);
        return result;
    }

    /** Orders goods, {name, body, areIn(order)}. Returns {order}, or a notice {text, action, reference, answer}. */
    async function place(goods, onBusy) {
        try {
            const begun = await begin(goods, onBusy);
            return begun.attempt ? await send(goods, begun, onBusy) : begun;
        } catch (error) {
            if (!(error instanceof Lost))
                throw error;
            return notice(attempts.get(goods.name) ? 'lost' : 'lostBefore', 'retry');
        }
    }

    /** Orders one piece. */
    function buy(sku, onBusy) {
        const areIn = (order) => order.items.some((item) => item.sku === sku);
        return place({ name: sku, body: { queue: QUEUE, items: [{ sku, quantity: 1 }] }, areIn }, onBusy);
    }

    /** Orders held seats of a show; an attempt without an answer is repeated with its original seats. */
    function buySeats(queue, show, seats, onBusy) {
        const areIn = (order) => order.seats.some((seat) => seat.show === show);
        return place({ name: `show.${show}`, body: { queue, show, seats }, areIn }, onBusy);
    }

    /** Takes a new place in line. Returns null on success, else a notice. */
    async function lineUp(onBusy, queue = QUEUE) {
        try {
            const answer = await persist(onBusy, 'POST', `/v1/queues/${queue}/entries`);
            if (isBusy(answer))
                return notice('lostBefore', 'lineUp');
            return answer.status === 200 || answer.status === 201 ? null : refused(REFUSED_ENTRY, answer);
        } catch (error) {
            if (!(error instanceof Lost))
                throw error;
            return notice('lostBefore', 'lineUp');
        }
    }

    Object.assign(shop, {
        askTurn,
        buy,
        buySeats,
        lineUp,
        /** Whether the last attempt on `sku`, or on `show.SHOW`, got no answer. */
        isUnsure: (name) => Boolean(attempts.get(name)),
        ask: (path) => persist(() => {}, 'GET', path),
    });
}(window.shop));
