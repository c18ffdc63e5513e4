/* Polls and pages while orders stall: slow PostgreSQL down during the run. Orders may fail; nothing else may. */
import http from 'k6/http';
import {BASE, SKU, enter, newMember, openModel, order, poll, waitForTurn} from './common.js';

const DURATION = __ENV.DURATION || '60s';

export const options = {
    scenarios: {
        polls: openModel(Number(__ENV.RATE || 500), DURATION, 'look'),
        pages: openModel(Number(__ENV.RATE || 500) / 5, DURATION, 'page'),
        orders: openModel(Number(__ENV.ORDERS || 50), DURATION, 'buy')
    },
    thresholds: {
        'http_req_duration{step:position}': ['p(95)<50'], 'http_req_duration{step:page}': ['p(95)<50'],
        'http_req_failed{step:position}': ['rate==0'], 'http_req_failed{step:page}': ['rate==0']
    }
};

let ticket = null;

export function look() {
    ticket = ticket || (enter(newMember()) || {}).queueTicket;
    if (ticket) {
        poll(ticket);
    }
}

export function page() {
    http.get(`${BASE}/shop/coupon.html`, {tags: {step: 'page'}});
}

export function buy() {
    const member = newMember();
    const token = waitForTurn(member);
    if (token) {
        order(member, token, {items: [{sku: SKU, quantity: 1}]});
    }
}
