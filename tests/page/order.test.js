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

/** The shop's page, whose first order gets no answer; the keys of the orders that it sent. */
function openShop(sessionStorage) {
    const keys = [];
    const shop = {
        Lost, isBusy: () => false,
        persist: async (onBusy, method, url, options) => {
            if (method === 'GET') {
                return {status: 200, body: {status: 'READY', entryToken: 'token', serverTime: '2030-01-01T00:00:00Z'}};
            }
            keys.push(options.headers['Idempotency-Key']);
            if (keys.length === 1) {
                throw new Lost();
            }
            return {status: 201, body: {id: 'order'}};
        }
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
