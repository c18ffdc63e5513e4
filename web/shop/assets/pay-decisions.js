/*
 * The decisions of the checkout, from an order and the time; no requests and no display. Tests load it by `require`.
 */
(function (root) {
    'use strict';

    const ASKS_MS = { CONFIRMING: 1000, LATE: 2000, CANCEL_REQUESTED: 1500, RETURNING: 5000 };
    const LONGEST_PAUSE_MS = 15000;
    const LOOK_MS = 20000;
    const PAYABLE = ['TO_PAY', 'OPEN', 'FAILED', 'STOPPED', 'LAPSED'];

    /** The state of an order at `now`, in ms of the server's clock; of an unpaid one, the progress of its payment. */
    function stateOf(order, now) {
        if (order.status !== 'PENDING_PAYMENT')
            return order.status;
        if (order.payment === 'CONFIRMING')
            return 'CONFIRMING';
        if (!order.payUntil || now >= Date.parse(order.payUntil))
            return 'LATE';
        return { OPEN: 'OPEN', FAILED: 'FAILED', STOPPED: 'STOPPED', EXPIRED: 'LAPSED' }[order.payment] || 'TO_PAY';
    }

    /** The state of the money of an order that has ended. */
    function moneyOf(order) {
        return { CANCEL_REQUESTED: 'RETURNING', CANCELED: 'RETURNED' }[order.payment] || 'NONE';
    }

    const mayPay = (state) => PAYABLE.includes(state);

    /** Whether it can be canceled: also a paid one. */
    const mayCancel = (state) => mayPay(state) || state === 'PAID';

    /**
     * How long to wait before the next request for the order, in ms; Infinity if nothing more happens to it.
     * `asked`: the number of requests since its state changed. `random`: 0..1, for jitter between pages.
     */
    function pauseFor(order, now, asked, random) {
        const state = stateOf(order, now);
        const first = ASKS_MS[state] || (state !== 'PAID' && ASKS_MS[moneyOf(order)]);
        if (first)
            return Math.min(first * 1.5 ** Math.min(asked, 20), LONGEST_PAUSE_MS) * (1 + random / 4);
        if (!mayPay(state))
            return Infinity;
        const left = Date.parse(order.payUntil) - now + 500;
        // It may be being paid in another tab.
        return Math.min(left, LOOK_MS) * (1 + random / 20);
    }

    /** The address of the payment: a page of the provider or of this site, never a script. Null for anything else. */
    function payPage(text, base) {
        let url = null;
        try {
            url = new URL(text, base);
        } catch (error) {
            return null;
        }
        return ['https:', 'http:'].includes(url.protocol) ? url.href : null;
    }

    const decisions = { stateOf, moneyOf, mayPay, mayCancel, pauseFor, payPage };
    if (typeof module === 'undefined')
        root.shop.checkout = decisions;
    else
        module.exports = decisions;
}(globalThis));
