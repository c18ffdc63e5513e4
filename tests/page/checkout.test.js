'use strict';
// What the checkout decides.
const assert = require('node:assert');
const test = require('node:test');

const page = require('../../web/shop/assets/pay-decisions.js');

const NOW = Date.parse('2030-01-01T12:00:00Z');
const at = (seconds) => new Date(NOW + seconds * 1000).toISOString();
const order = (changes) => Object.assign({status: 'PENDING_PAYMENT', payment: null, payUntil: at(600)}, changes);
const state = (changes) => page.stateOf(order(changes), NOW);
const pause = (changes, asked = 0, random = 0) => page.pauseFor(order(changes), NOW, asked, random);

test('an unpaid order is told by its payment', () => {
    const states = {OPEN: 'OPEN', FAILED: 'FAILED', STOPPED: 'STOPPED', EXPIRED: 'LAPSED'};
    assert.strictEqual(state({}), 'TO_PAY');
    for (const payment of Object.keys(states)) {
        assert.strictEqual(state({payment}), states[payment]);
        assert.ok(page.mayPay(states[payment]) && page.mayCancel(states[payment]));
        assert.strictEqual(state({payment, payUntil: at(0)}), 'LATE');
    }
    assert.strictEqual(state({payUntil: null}), 'LATE');
});

test('while it is confirmed nobody pays, cancels or reads that it is over', () => {
    for (const payUntil of [null, at(-5), at(5)]) {
        assert.strictEqual(state({payment: 'CONFIRMING', payUntil}), 'CONFIRMING');
    }
    assert.ok(!page.mayPay('CONFIRMING') && !page.mayCancel('CONFIRMING'));
});

test('an order that has ended is what its status says, and its money what its payment says', () => {
    for (const status of ['PAID', 'CANCELED', 'EXPIRED', 'PAYMENT_FAILED', 'CANCEL_REQUESTED']) {
        assert.strictEqual(state({status, payUntil: null}), status);
        assert.ok(!page.mayPay(status));
    }
    const money = (payment) => page.moneyOf(order({status: 'EXPIRED', payment}));
    assert.deepStrictEqual([null, 'STOPPED', 'CANCEL_REQUESTED', 'CANCELED'].map(money),
        ['NONE', 'NONE', 'RETURNING', 'RETURNED']);
});

test('what is undecided is asked for ever more seldom, and what is over never', () => {
    const confirming = [0, 1, 2, 50].map((asked) => pause({payment: 'CONFIRMING'}, asked));
    assert.deepStrictEqual(confirming, [1000, 1500, 2250, 15000]);
    assert.ok(pause({payment: 'CONFIRMING'}, 50, 1) > 15000, 'not all in the same moment');
    assert.strictEqual(pause({status: 'EXPIRED', payment: 'CANCEL_REQUESTED'}), 5000, 'money on its way');
    assert.strictEqual(pause({payUntil: at(3)}), 3500);
    assert.strictEqual(pause({}), 20000, 'another tab may pay');
    for (const status of ['PAID', 'CANCELED', 'EXPIRED', 'PAYMENT_FAILED']) {
        assert.strictEqual(pause({status, payUntil: null}), Infinity);
    }
});

test('no address of a script is gone to', () => {
    const base = 'https://shop.example/shop/result.html';
    assert.strictEqual(page.payPage('/_sluice/pay', base), 'https://shop.example/_sluice/pay');
    assert.strictEqual(page.payPage('https://pay.example/1', base), 'https://pay.example/1');
    for (const text of ['javascript:alert(1)', 'data:text/html,x', 'https://', 'mailto:a@b.example']) {
        assert.strictEqual(page.payPage(text, base), null);
    }
});
