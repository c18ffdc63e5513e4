/* Entries, positions and coupons, a third each: an arriving member makes the three, one after the other. */
import {coupon, enter, newMember, openModel, poll} from './common.js';
import {sleep} from 'k6';

const RATE = Number(__ENV.RATE || 2000);

export const options = {
    scenarios: {constant: openModel(Math.round(RATE / 3), __ENV.DURATION || '60s', 'member')},
    thresholds: {
        http_req_duration: ['p(90)<33.85'], http_req_failed: ['rate==0'], dropped_iterations: ['count==0']
    }
};

export function member() {
    const member = newMember();
    const place = enter(member);
    if (!place) {
        return;
    }
    let now = poll(place.queueTicket);
    for (let more = 0; now && !now.entryToken && more < 30; more++) {
        sleep(now.retryAfterMs / 1000);
        now = poll(place.queueTicket);
    }
    if (now && now.entryToken) {
        coupon(member, now.entryToken);
    }
}
