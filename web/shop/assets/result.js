/*
 * The result page: one order and its next steps, or all orders of this browser. names.js,
 * pay.js and coupon-decisions.js come before this.
 *
 * It shows the order's state from the API. The word that the provider's redirect leaves in the address
 * may be old, or forged: it only chooses between two sentences that are both true.
 */
(function (shop) {
    'use strict';

    const WAKE_AFTER_MS = 1000;
    const LEAVE_WITHIN_MS = 10000;
    const LIST_PAUSE_AT_LEAST_MS = 5000;
    const { text } = shop;
    const { stateOf, moneyOf, mayPay, mayCancel, pauseFor } = shop.checkout;
    const { backoff, clockText } = shop.decide;
    const FACES = ['loading', 'order', 'list', 'none', 'empty', 'unreachable'];
    const asked = new URLSearchParams(location.search);
    const id = asked.get('order');
    const at = (name) => document.getElementById(name);

    function element(name, properties = {}, ...children) {
        const made = Object.assign(document.createElement(name), properties);
        made.append(...children);
        return made;
    }

    /** Writes the text if it differs, so that it is not announced again. Hides the element for an empty one. */
    function put(name, words) {
        at(name).hidden = !words;
        if (at(name).textContent !== words)
            at(name).textContent = words;
    }

    function replace(list, rows) {
        list.textContent = '';
        list.append(...rows);
    }

    function face(name) {
        FACES.forEach((other) => { at(other).hidden = other !== name; });
    }

    const shows = {};

    /** A show's name: its concert's title and its time, once they are known. */
    function showName(show) {
        const { concert, startsAt } = shows[show] || {};
        return concert ? `${shop.concertName(concert)}, ${shop.time(startsAt)}` : show;
    }

    /** Fetches the names of these orders' shows, once each; returns whether there are new ones. */
    async function learnShows(orders) {
        const wanted = [...new Set(orders.flatMap((order) => order.seats.map((seat) => seat.show)))]
            .filter((show) => !(show in shows));
        for (const show of wanted) {
            shows[show] = null;
            const found = await shop.call('GET', `/v1/shows/${encodeURIComponent(show)}`);
            const concert = found.status === 200 &&
                await shop.call('GET', `/v1/concerts/${encodeURIComponent(found.body.concert)}`);
            if (concert && concert.status === 200)
                shows[show] = { concert: concert.body, startsAt: found.body.startsAt };
        }
        return wanted.length > 0;
    }

    /** The ordered items: [{name, quantity, price}]. */
    function piecesOf(order, nameOf) {
        return [...order.items.map((item) => ({ name: nameOf(item.sku), quantity: item.quantity, price: item.unitPrice })),
            ...order.seats.map((seat) => ({ name: text('seat', { show: showName(seat.show), seat: shop.seatName(seat) }),
                quantity: 1, price: seat.price }))];
    }

    function nextOf(order, state) {
        const time = order.payUntil ? shop.time(order.payUntil) : '';
        if (state === 'OPEN' && asked.get('payment') === 'unavailable')
            return text('nextUnavailable', { time });
        const next = text(`next${state}`, { time });
        return state === 'PAID' || order.status === 'PENDING_PAYMENT' ? next : `${next} ${text(`money${moneyOf(order)}`)}`;
    }

    function labelOf(order) {
        const state = stateOf(order, shop.now());
        return text(`label${state}`) || text(`label${order.status}`) || order.status;
    }

    /** The page; `nameOf` returns a SKU's name. Returns a function that shows it in another
     *  language. */
    function resultPage({ nameOf }) {
        let known = null; // the answer shown
        let drawn = '';
        let state = '';
        let askedInState = 0;
        let failures = 0;
        let askedAt = 0;
        let changes = 0;
        let paying = false;
        let pressed = null;
        let said = null;
        let wakeUp = () => {};

        function drawNotice() {
            at('notice').hidden = !said;
            at('notice').dataset.tone = said && said.alert ? 'alert' : 'calm';
            put('notice-text', said ? text(said.text, said.parameters) : '');
            put('notice-reference', said && said.reference ? text('reference', { id: said.reference }) : '');
        }

        function say(name, { parameters, reference, alert } = {}) {
            said = name ? { text: name, parameters, reference, alert } : null;
            drawNotice();
        }

        function drawPieces(order) {
            replace(at('order-items'), piecesOf(order, nameOf).map((piece) => element('tr', {},
                element('th', { scope: 'row', textContent: piece.name }),
                element('td', { textContent: piece.quantity }),
                element('td', { textContent: shop.money(piece.price) }))));
            at('order-total').textContent = shop.money(order.total);
            at('order-id').textContent = order.id;
            at('order-time').textContent = shop.time(order.createdAt);
            at('order-time').dateTime = order.createdAt;
        }

        /** Moves the focus from a removed button to the result. */
        function keepFocus() {
            if (!pressed || pressed.getClientRects().length > 0)
                return;
            if ([pressed, document.body].includes(document.activeElement))
                at('order-title').focus();
            pressed = null;
        }

        function drawButtons(order) {
            at('pay-part').hidden = !mayPay(state);
            at('pay').disabled = paying;
            put('pay', paying ? text('paying') : text(state === 'OPEN' ? 'payOn' : 'pay', { sum: shop.money(order.total) }));
            at('order-cancel').hidden = !mayCancel(state);
            put('cancel-text', text(state === 'PAID' && order.total.amount > 0 ? 'cancelRefund' : 'cancelText'));
            keepFocus();
        }

        function drawOrder(order) {
            const now = stateOf(order, shop.now());
            if (now !== state) {
                state = now;
                askedInState = 0;
                at('order-cancel').open = false;
            }
            at('order').dataset.state = state;
            put('order-title', text(`status${state}`) || order.status);
            put('order-next', nextOf(order, state));
            const signature = JSON.stringify([order, document.documentElement.lang]);
            if (signature !== drawn)
                drawPieces(order);
            drawn = signature;
            drawButtons(order);
            drawCountdown();
            face('order');
        }

        function drawCountdown() {
            if (mayPay(state))
                at('countdown').textContent = clockText(Date.parse(known.body.payUntil) - shop.now());
        }

        function row(order) {
            const link = element('a', { href: shop.resultPath(order.id), className: 'row' },
                element('span', { className: 'what',
                    textContent: piecesOf(order, nameOf).map((piece) => piece.name).join(', ') }),
                element('span', { className: 'status', textContent: labelOf(order) }),
                element('time', { dateTime: order.createdAt, textContent: shop.time(order.createdAt) }),
                element('span', { className: 'sum', textContent: shop.money(order.total) }));
            if (mayPay(stateOf(order, shop.now())))
                link.append(element('span', { className: 'to-pay', textContent: text('payThis') }));
            return element('li', {}, link);
        }

        function drawList(orders) {
            const now = shop.now();
            const signature = JSON.stringify([orders, orders.map((order) => stateOf(order, now)),
                document.documentElement.lang]);
            if (signature !== drawn)
                replace(at('orders-rows'), orders.map(row));
            drawn = signature;
            face(orders.length ? 'list' : 'empty');
        }

        function draw() {
            if (!known)
                return;
            if (known.status === 200 && id)
                drawOrder(known.body);
            else if (known.status === 200)
                drawList(known.body.orders);
            else if (known.status === 404 || known.status === 401)
                face(id ? 'none' : 'empty');
            else
                face('unreachable');
            drawNotice();
        }

        /** Shown by their ids until their names are known. */
        function nameShows(orders) {
            learnShows(orders).then((news) => {
                if (!news)
                    return;
                drawn = '';
                draw();
            }).catch((error) => {
                if (!(error instanceof shop.Lost))
                    throw error;
            });
        }

        /** An order that was shown stays while the API does not answer. */
        function learn(answer) {
            const isSure = answer.status === 200 || answer.status === 404 || answer.status === 401;
            failures = isSure ? 0 : failures + 1;
            if (isSure || !known || known.status !== 200)
                known = answer;
            if (said && said.text === 'offline' && isSure)
                said = null;
            else if (!isSure && known.status === 200 && !said)
                said = { text: 'offline' };
            askedInState += 1;
            draw();
            if (answer.status === 200)
                nameShows(id ? [answer.body] : answer.body.orders);
        }

        async function look() {
            const before = changes;
            let answer = { status: 0 };
            try {
                answer = await shop.call('GET', id ? `/v1/orders/${encodeURIComponent(id)}` : '/v1/orders');
            } catch (error) {
                if (!(error instanceof shop.Lost))
                    throw error;
            }
            // An answer to a request before the person's last action is outdated.
            if (before === changes)
                learn(answer);
        }

        function pause() {
            if (failures)
                return backoff(failures, Math.random());
            if (known.status !== 200)
                return Infinity;
            const wait = (order) => pauseFor(order, shop.now(), askedInState, Math.random());
            return id ? wait(known.body) : Math.max(LIST_PAUSE_AT_LEAST_MS, Math.min(Infinity, ...known.body.orders.map(wait)));
        }

        function rest(ms) {
            return new Promise((done) => {
                wakeUp = done;
                if (ms !== Infinity)
                    setTimeout(done, ms);
            });
        }

        async function run() {
            for (;;) {
                askedAt = Date.now();
                await look();
                await rest(pause());
            }
        }

        /** The page is visible again, or the network is back. */
        function wake() {
            if (Date.now() - askedAt < WAKE_AFTER_MS)
                return;
            askedInState = 0;
            wakeUp();
        }

        function setPaying(is) {
            paying = is;
            draw();
        }

        async function pay() {
            if (paying)
                return;
            say(null);
            pressed = at('pay');
            setPaying(true);
            const begun = await shop.pay(id, (seconds) => say('payBusy', { parameters: { seconds } }));
            if (begun.url) {
                say(null);
                location.assign(begun.url);
                // The person may stop it.
                setTimeout(() => setPaying(false), LEAVE_WITHIN_MS);
                return;
            }
            setPaying(false);
            if (begun.text)
                say(begun.text, { reference: begun.reference, alert: true });
            else
                say(null);
            wakeUp();
        }

        async function cancel() {
            at('cancel').disabled = true;
            pressed = at('cancel');
            changes += 1;
            say(null);
            const done = await shop.cancel(id, (seconds) => say('cancelBusy', { parameters: { seconds } }));
            changes += 1;
            say(null);
            if (done.order)
                learn({ status: 200, body: done.order });
            else
                say(done.text, { reference: done.reference, alert: true });
            at('cancel').disabled = false;
            wakeUp();
        }

        at('again').addEventListener('click', () => wakeUp());
        at('pay').addEventListener('click', pay);
        at('cancel').addEventListener('click', cancel);
        document.addEventListener('visibilitychange', () => document.hidden || wake());
        addEventListener('online', wake);
        // The back button may restore the page as it was left.
        addEventListener('pageshow', (event) => {
            if (event.persisted) {
                setPaying(false);
                askedAt = 0;
                wake();
            }
        });
        setInterval(() => {
            if (id && known && known.status === 200)
                draw();
        }, 1000);
        run();
        return () => {
            document.title = text(id ? 'resultPage' : 'ordersPage');
            draw();
        };
    }

    Object.assign(shop, { resultPage });
}(window.shop));
