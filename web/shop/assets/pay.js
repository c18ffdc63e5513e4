/*
 * Pays and cancels an order by Sluice's API. api.js and pay-decisions.js come before this.
 *
 * An order has one open payment, however often it is requested: a double click, a second tab and a lost answer
 * all lead to the same page of the provider.
 */
(function (shop) {
    'use strict';

    const START_AT_MOST_MS = 60000;
    const pathOf = (id) => `/v1/orders/${encodeURIComponent(id)}`;

    /** Another tab, or a request whose answer was lost, is starting it: its page will exist in a moment. */
    async function isBeingStarted(id) {
        const answer = await shop.call('GET', pathOf(id));
        return answer.status !== 200 || answer.body.payment === 'OPEN';
    }

    function refused(answer) {
        if (shop.isBusy(answer) || answer.status === 409)
            return { text: 'payUnavailable' };
        return { text: 'payFailed', reference: answer.body.instance };
    }

    /** One request for the payment page. Returns {url}, {look}, {text, reference}, or {later: the answer}. */
    async function ask(id) {
        const answer = await shop.call('POST', `${pathOf(id)}/payment`);
        if (answer.status === 200 || answer.status === 201) {
            const url = shop.checkout.payPage(answer.body.redirectUrl, location.href);
            return url ? { url } : { text: 'payFailed' };
        }
        if (answer.code === 'PAYMENT_IN_PROGRESS')
            return await isBeingStarted(id) ? { later: answer } : { look: true };
        if (shop.isBusy(answer))
            return { later: answer };
        return answer.status < 500 ? { look: true } : refused(answer);
    }

    /**
     * Starts paying the order, or continues. Returns {url}, the payment page; {look: true} if the order itself shows
     * why not; or a message, {text, reference}. `onBusy` gets the seconds until the next automatic try.
     */
    async function pay(id, onBusy) {
        const end = Date.now() + START_AT_MOST_MS;
        try {
            for (;;) {
                const asked = await ask(id);
                if (!asked.later)
                    return asked;
                const pause = shop.busyPause(asked.later);
                if (Date.now() + pause * 1000 > end)
                    return refused(asked.later);
                onBusy(Math.round(pause));
                await new Promise((done) => setTimeout(done, pause * 1000));
            }
        } catch (error) {
            if (!(error instanceof shop.Lost))
                throw error;
            return { text: 'payLost' };
        }
    }

    const CANCEL_REFUSED = {
        PAYMENT_IN_PROGRESS: { text: 'cancelConfirming' },
        ORDER_NOT_CANCELABLE: { text: 'cancelRefused' },
    };

    /** Cancels the order. Returns {order}, or a message, {text, reference}. */
    async function cancel(id, onBusy) {
        try {
            const answer = await shop.persist(onBusy, 'POST', `${pathOf(id)}/cancel`);
            if (answer.status === 200)
                return { order: answer.body };
            if (shop.isBusy(answer))
                return { text: 'cancelLost' };
            return CANCEL_REFUSED[answer.code] || { text: 'cancelFailed', reference: answer.body.instance };
        } catch (error) {
            if (!(error instanceof shop.Lost))
                throw error;
            return { text: 'cancelLost' };
        }
    }

    Object.assign(shop, { pay, cancel });
}(window.shop));
