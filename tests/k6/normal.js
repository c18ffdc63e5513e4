/* An ordinary day: 300 requests a second, nine browse while one enters, waits for the turn and buys. */
import http from 'k6/http';
import {BASE, SKU, newMember, openModel, order, waitForTurn} from './common.js';

const RATE = Number(__ENV.RATE || 300);
const DURATION = __ENV.DURATION || '60s';
const PAGES = ['/v1/concerts', '/shop/coupon.html', '/shop/assets/coupon.js'];

export const options = {
    scenarios: {
        browsing: openModel(Math.round(RATE * 0.9), DURATION, 'browse'),
        // A buyer makes about three requests.
        buying: openModel(Math.max(1, Math.round(RATE / 30)), DURATION, 'buy')
    },
    thresholds: {http_req_duration: ['p(95)<300'], http_req_failed: ['rate<0.001']}
};

export function browse() {
    http.get(BASE + PAGES[Math.floor(Math.random() * PAGES.length)], {tags: {step: 'browse'}});
}

export function buy() {
    const member = newMember();
    const token = waitForTurn(member);
    if (token) {
        order(member, token, {items: [{sku: SKU, quantity: 1}]});
    }
}
