'use strict';
// An order of the shop whose answer is lost is sent again as the same order.
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const vm = require('node:vm');

const {storage} = require('./whole_page.js');

const SCRIPT = fs.readFileSync(path.join(__dirname, '../../web/shop/assets/order.js'), 'utf8');
const FORBIDDEN = {
    getItem() {
        throw new Error('storage is forbidden');
    },
    setItem() {
        throw new Error('storage is forbidden');
    },
    removeItem() {
        throw new Error('storage is forbidden');
    }
};

class Lost extends Error {}

const CREATED = {status: 201, body: {id: 'order'}};
const refusal = (status, code) => ({status, code, body: {}});
const ORDER = {id: 'order', createdAt: '2030-01-01T00:00:01Z', items: [{sku: 'mug'}], seats: []};

/** The shop's page, whose first order gets no answer, and the later ones `answers.order`; `answers.list`: the member's orders. The
 *  keys of the orders that it sent. */
function openShop(sessionStorage, answers = {order: CREATED}) {
    const keys = [];
    const call = async (method, url, options) => {
        if (url === '/v1/orders' && method === 'GET') {
            return answers.list;
        } else if (method === 'GET') {
            return {status: 200, body: {status: 'READY', entryToken: 'token', serverTime: '2030-01-01T00:00:00Z'}};
        }
        keys.push(options.headers['Idempotency-Key']);
        if (keys.length === 1) {
            throw new Lost();
        }
        return answers.order;
    };
    const shop = {
        Lost, call, isBusy: (answer) => answer.status === 429 || answer.status === 503, persist: (onBusy, ...request) => call(...request)
    };
    vm.runInNewContext(SCRIPT, {window: {shop}, sessionStorage, crypto});
    return {shop, keys};
}

for (const [name, kept] of [['usual', storage(false)], ['full', storage(true)], ['forbidden', FORBIDDEN]]) {
    test(`an order whose answer was lost keeps its key with ${name} storage`, async () => {
        const {shop, keys} = openShop(kept);
        assert.strictEqual((await shop.buy('mug', () => {})).text, 'lost');
        assert.ok(shop.isUnsure('mug'));
        assert.strictEqual((await shop.buy('mug', () => {})).order.id, 'order');
        assert.strictEqual(keys[0], keys[1]);
        assert.ok(!shop.isUnsure('mug'));
    });
}

for (const list of [refusal(503, 'ORDERS_UNAVAILABLE'), refusal(429, 'RATE_LIMITED'), refusal(401, 'UNAUTHENTICATED')]) {
    test(`an order that cannot be looked up (${list.code}) is not given up`, async () => {
        const answers = {order: refusal(401, 'ENTRY_TOKEN_INVALID'), list};
        const {shop, keys} = openShop(storage(false), answers);
        await shop.buy('mug', () => {});
        const {text, action} = await shop.buy('mug', () => {});
        assert.deepStrictEqual([text, action], ['lost', 'retry']);
        assert.ok(shop.isUnsure('mug'));
        answers.list = {status: 200, body: {orders: [ORDER]}};
        assert.strictEqual((await shop.buy('mug', () => {})).order.id, 'order');
        assert.deepStrictEqual(keys, [keys[0], keys[0], keys[0]]);
        assert.ok(!shop.isUnsure('mug'));
    });
}

test('a turn has ended once the list is known to have no such order', async () => {
    const earlier = {...ORDER, createdAt: '2029-12-31T00:00:00Z'};
    const {shop} = openShop(storage(false), {order: refusal(401, 'ENTRY_TOKEN_INVALID'), list: {status: 200, body: {orders: [earlier]}}});
    await shop.buy('mug', () => {});
    assert.strictEqual((await shop.buy('mug', () => {})).text, 'turnEnded');
    assert.ok(!shop.isUnsure('mug'));
});

test('an order whose answer was lost is not given up because the login has ended', async () => {
    const answers = {order: refusal(401, 'UNAUTHENTICATED')};
    const {shop, keys} = openShop(storage(false), answers);
    await shop.buy('mug', () => {});
    assert.strictEqual((await shop.buy('mug', () => {})).text, 'noPlace');
    assert.ok(shop.isUnsure('mug'));
    answers.order = CREATED;
    assert.strictEqual((await shop.buy('mug', () => {})).order.id, 'order');
    assert.deepStrictEqual(keys, [keys[0], keys[0], keys[0]]);
});
