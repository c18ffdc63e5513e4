/* The moment of a sale: every member once, all within a second, each until a coupon is in hand or all are gone. */
import {sleep} from 'k6';
import {coupon, newMember, waitForTurn} from './common.js';

const MEMBERS = Number(__ENV.MEMBERS || 5000);

export const options = {
    scenarios: {burst: {executor: 'per-vu-iterations', vus: MEMBERS, iterations: 1, maxDuration: '10m', exec: 'member'}},
    thresholds: {checks: ['rate>0.999']}
};

export function member() {
    const member = newMember();
    sleep(Math.random());
    const token = waitForTurn(member);
    for (let tries = 0; token && tries < 20; tries++) {
        const answer = coupon(member, token);
        if (answer.status !== 503 && answer.status !== 429 && answer.status !== 409) {
            return;
        }
        sleep(Number(answer.headers['Retry-After'] || 1));
    }
}
