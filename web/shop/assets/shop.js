/*
 * The pages: what they show, and what their buttons do. language.js and order.js come before this.
 */
(function (shop) {
    'use strict';

    const { text } = shop;
    const PIECES = { 'sample-mug': 'mug', 'sample-postcard': 'postcard' };
    const asked = new URLSearchParams(location.search);
    const main = document.querySelector('main');

    const resultPath = (id) => `/shop/result.html?order=${encodeURIComponent(id)}`;

    function element(name, properties = {}, ...children) {
        const made = Object.assign(document.createElement(name), properties);
        made.append(...children);
        return made;
    }

    /** What was ordered, a row each: {name, quantity, price}. */
    function rowsOf(order) {
        const items = order.items.map(({ sku, quantity, unitPrice: price }) => ({ name: nameOf(sku), quantity, price }));
        return [...items, ...order.seats.map((seat) => ({ name: seatName(seat), quantity: 1, price: seat.price }))];
    }

    const piecesOf = (order) => rowsOf(order).map(({ name }) => name).join(', ');

    function seatName({ id: seat, section, row, number }) {
        const where = [section && text('seatsSection', { section }), row && text('seatsRow', { row }),
            text('seatsNumber', { number: number || seat })];
        return where.filter(Boolean).join(text('seatsJoin'));
    }

    function replace(list, rows) {
        list.textContent = '';
        list.append(...rows);
    }

    function nameOf(sku) {
        return PIECES[sku] ? text(`${PIECES[sku]}Name`) : sku;
    }

    /** Puts the prices into the language's form. */
    function showPrices() {
        document.querySelectorAll('data.price').forEach((price) => {
            price.textContent = shop.money({ amount: Number(price.value), currency: price.dataset.currency });
        });
    }

    /** The product page: one piece, its button, and below it what came of pressing that. */
    function productPage() {
        const sku = asked.get('sku');
        const piece = document.getElementById(PIECES[sku] ? sku : 'unknown');
        const button = piece.querySelector('button.buy');
        const told = document.getElementById('told');
        const sentence = document.getElementById('told-text');
        const reference = document.getElementById('told-reference');
        const actions = document.getElementById('told-actions');
        let said = () => {};
        let running = false;

        piece.hidden = false;
        if (!button)
            return () => { document.title = text('productPageAny'); };
        piece.querySelector('.text').append(told);

        /** Says something, and says it again when the language changes. */
        function say(name, parameters = {}, { action, id } = {}) {
            said = () => {
                sentence.textContent = text(name, parameters);
                reference.textContent = id ? text('reference', { id }) : '';
            };
            said();
            told.dataset.tone = action ? 'alert' : 'calm';
            actions.querySelectorAll('[data-action]').forEach((choice) => {
                choice.hidden = choice.dataset.action !== action;
            });
            told.hidden = false;
        }

        function sayBusy(seconds) {
            say('busy', { seconds });
        }

        async function during(work) {
            if (running)
                return;
            running = true;
            button.disabled = true;
            say('buying');
            try {
                await work();
            } finally {
                running = false;
                button.disabled = false;
            }
        }

        const buy = () => during(async () => {
            const { order, text: name, action, reference: id } = await shop.buy(sku, sayBusy);
            if (order)
                location.assign(resultPath(order.id));
            else
                say(name, {}, { action, id });
        });
        const lineUp = () => during(async () => {
            const refusal = await shop.lineUp(sayBusy);
            if (refusal)
                say(refusal.text, {}, refusal);
            else
                location.reload();
        });

        button.addEventListener('click', buy);
        actions.querySelector('[data-action=retry]').addEventListener('click', buy);
        actions.querySelector('[data-action=lineUp]').addEventListener('click', lineUp);
        // A page that the back button shows again, just as it was left.
        window.addEventListener('pageshow', (event) => { told.hidden = event.persisted || told.hidden; });
        if (shop.isUnsure(sku))
            say('unsure', {}, { action: 'retry' });
        return () => {
            document.title = text('productPage', { name: nameOf(sku) });
            said();
        };
    }

    /** The result page: one order, or all of this browser's. */
    function resultPage() {
        const id = asked.get('order');
        const faces = ['loading', 'order', 'list', 'none', 'empty', 'unreachable'];
        const at = (name) => document.getElementById(name);
        let draw = () => {};
        let expiry;

        function face(name) {
            faces.forEach((other) => { at(other).hidden = other !== name; });
        }

        function drawOrder(order) {
            face('order');
            at('order').dataset.status = order.status;
            at('order-title').textContent = text(`status${order.status}`) || order.status;
            const until = order.expiresAt ? shop.time(order.expiresAt) : '';
            at('order-next').textContent = text(`next${order.status}`, { time: until });
            at('order-id').textContent = order.id;
            at('order-time').textContent = shop.time(order.createdAt);
            at('order-time').dateTime = order.createdAt;
            at('order-total').textContent = shop.money(order.total);
            replace(at('order-items'), rowsOf(order).map(({ name, quantity, price }) => element('tr', {},
                element('th', { scope: 'row', textContent: name }),
                element('td', { textContent: quantity }),
                element('td', { textContent: shop.money(price) }))));
            at('order-cancel').hidden = order.status !== 'PENDING_PAYMENT';
            clearTimeout(expiry);
            if (order.status === 'PENDING_PAYMENT')
                expiry = setTimeout(load, Math.max(Date.parse(order.expiresAt) - Date.now(), 0) + 5000);
        }

        function drawList(orders) {
            face(orders.length ? 'list' : 'empty');
            replace(at('orders-rows'), orders.map((order) => element('li', {},
                element('a', { href: resultPath(order.id), className: 'row' },
                    element('span', { className: 'what', textContent: piecesOf(order) }),
                    element('span', { className: 'status', textContent: text(`label${order.status}`) || order.status }),
                    element('time', { dateTime: order.createdAt, textContent: shop.time(order.createdAt) }),
                    element('span', { className: 'sum', textContent: shop.money(order.total) })))));
        }

        function show(answer) {
            if (answer.status === 200)
                draw = () => (id ? drawOrder(answer.body) : drawList(answer.body.orders));
            else if (answer.status === 404 || answer.status === 401)
                draw = () => face(id ? 'none' : 'empty');
            else
                draw = () => face('unreachable');
            draw();
        }

        async function during(question) {
            main.setAttribute('aria-busy', 'true');
            try {
                show(await question);
            } catch (error) {
                if (!(error instanceof shop.Lost))
                    throw error;
                show({ status: 0 });
            } finally {
                main.removeAttribute('aria-busy');
            }
        }

        function load() {
            return during(shop.ask(id ? `/v1/orders/${encodeURIComponent(id)}` : '/v1/orders'));
        }

        at('again').addEventListener('click', load);
        at('cancel').addEventListener('click', async () => {
            at('cancel').disabled = true;
            await during(shop.cancel(id));
            at('cancel').disabled = false;
        });
        load();
        return () => {
            document.title = text(id ? 'resultPage' : 'ordersPage');
            draw();
        };
    }

    const pages = {
        home: () => () => { document.title = text('homePage'); },
        product: productPage,
        result: resultPage,
    };

    shop.ready.then(() => {
        const translate = pages[document.body.dataset.page]();
        const show = () => {
            showPrices();
            translate();
        };
        shop.onLanguage(show);
        show();
    });
}(window.shop));
