/*
 * The shop's pages: their contents and buttons. language.js, api.js and a page's own scripts come before
 * this.
 */
(function (shop) {
    'use strict';

    const { text } = shop;
    const PIECES = { 'sample-mug': 'mug', 'sample-postcard': 'postcard' };
    const asked = new URLSearchParams(location.search);

    function nameOf(sku) {
        return PIECES[sku] ? text(`${PIECES[sku]}Name`) : sku;
    }

    /** Formats the prices for the language. */
    function showPrices() {
        document.querySelectorAll('data.price').forEach((price) => {
            price.textContent = shop.money({ amount: Number(price.value), currency: price.dataset.currency });
        });
    }

    /** The product page: one piece, its button, and the result below it. */
    function productPage() {
        const sku = asked.get('sku');
        const piece = document.getElementById(PIECES[sku] ? sku : 'unknown');
        const button = piece.querySelector('button.buy');
        const notice = document.getElementById('notice');
        const sentence = document.getElementById('notice-text');
        const reference = document.getElementById('notice-reference');
        const actions = document.getElementById('notice-actions');
        let said = () => {};
        let running = false;

        piece.hidden = false;
        if (!button)
            return () => { document.title = text('productPageAny'); };
        piece.querySelector('.text').append(notice);

        /** Shows a message, also after a change of language. */
        function say(name, parameters = {}, { action, id } = {}) {
            said = () => {
                sentence.textContent = text(name, parameters);
                reference.textContent = id ? text('reference', { id }) : '';
            };
            said();
            notice.dataset.tone = action ? 'alert' : 'calm';
            actions.querySelectorAll('[data-action]').forEach((choice) => {
                choice.hidden = choice.dataset.action !== action;
            });
            notice.hidden = false;
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
                location.assign(shop.resultPath(order.id));
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
        // The back button may restore the page as it was left.
        window.addEventListener('pageshow', (event) => { notice.hidden = event.persisted || notice.hidden; });
        if (shop.isUnsure(sku))
            say('unsure', {}, { action: 'retry' });
        return () => {
            document.title = text('productPage', { name: nameOf(sku) });
            said();
        };
    }

    const pages = {
        home: () => () => { document.title = text('homePage'); },
        product: productPage,
        result: () => shop.resultPage({ nameOf }),
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
