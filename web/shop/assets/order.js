/*
 * Ordering through Sluice's API: the entry token of the visitor's place buys one order. api.js comes before this.
 *
 * An attempt keeps its Idempotency-Key and its token in sessionStorage until its outcome is known, so that a
 * double click, a lost answer and a page loaded anew all repeat the same request: the API then makes one order.
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
        /** The attempt whose outcome is not known yet, {key, token, since}, or null. */
        get(sku) {
            try {
                return JSON.parse(sessionStorage.getItem(this.name(sku)));
            } catch (error) {
                // Storage may be forbidden: then an attempt lives as long as the page.
                return this.unstored[sku] || null;
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

    /** What to tell the visitor: a text, what the button below it does, and a number for support. */
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
        return notice(text, action, answer);
    }

    /** Asks for the entry token. Gives {position} or a notice. */
    async function askTurn(onBusy) {
        const answer = await persist(onBusy, 'GET', `/v1/queues/${QUEUE}/position`);
        if (answer.status !== 200)
            return refused(REFUSED_TURN, answer);
        if (answer.body.status === 'WAITING')
            return notice('stillWaiting', 'shop');
        return answer.body.entryToken ? { position: answer.body } : notice('turnSpent', 'lineUp');
    }

    /** The order that an attempt made although its answer never came and its token is forgotten by now. */
    async function findOrder(sku, since) {
        const answer = await shop.call('GET', '/v1/orders');
        const orders = answer.status === 200 ? answer.body.orders : [];
        return orders.find((order) => order.createdAt >= since && order.items.some((item) => item.sku === sku));
    }

    /** Begins an attempt, or goes on with the one whose outcome is unknown. Gives {attempt, again} or a notice. */
    async function begin(sku, onBusy) {
        const open = attempts.get(sku);
        if (open)
            return { attempt: open, again: true };
        const turn = await askTurn(onBusy);
        if (!turn.position)
            return turn;
        const attempt = { key: randomKey(), token: turn.position.entryToken, since: turn.position.serverTime };
        attempts.keep(sku, attempt);
        return { attempt, again: false };
    }

    async function send(sku, { attempt, again }, onBusy) {
        const answer = await persist(onBusy, 'POST', '/v1/orders', {
            headers: { 'X-Entry-Token': attempt.token, 'Idempotency-Key': attempt.key },
            body: { queue: QUEUE, items: [{ sku, quantity: 1 }] },
        });
        let order = answer.status === 200 || answer.status === 201 ? answer.body : undefined;
        if (answer.code === 'ENTRY_TOKEN_INVALID' && again)
            order = await findOrder(sku, attempt.since);
        const told = order ? { order } : refused(REFUSED_ORDER, answer);
        if (told.action !== 'retry' || answer.code === 'IDEMPOTENCY_KEY_REUSED')
            attempts.end(sku);
        return told;
    }

    /** Orders one piece. Gives {order}, or a notice {text, action, reference}. */
    async function buy(sku, onBusy) {
        try {
            const begun = await begin(sku, onBusy);
            return begun.attempt ? await send(sku, begun, onBusy) : begun;
        } catch (error) {
            if (!(error instanceof Lost))
                throw error;
            return notice(attempts.get(sku) ? 'lost' : 'lostBefore', 'retry');
        }
    }

    /** Takes a new place in line. Gives null where that worked, else a notice. */
    async function lineUp(onBusy) {
        try {
            const answer = await persist(onBusy, 'POST', `/v1/queues/${QUEUE}/entries`);
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
        buy,
        lineUp,
        /** Whether the last attempt on `sku` got no answer. */
        isUnsure: (sku) => Boolean(attempts.get(sku)),
        ask: (path) => persist(() => {}, 'GET', path),
    });
}(window.shop));
