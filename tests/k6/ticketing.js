/* Booking alone, at a rate that is to be found: raise RATE until the threshold breaks; what held is the queue's
 * ratePerSecond. The queue must let in at once (admitWhenIdle, a high rate). */
import {book, newMember, openModel, waitForTurn} from './common.js';

export const options = {
    scenarios: {ticketing: openModel(Number(__ENV.RATE || 50), __ENV.DURATION || '60s', 'member')},
    thresholds: {
        'http_req_duration{step:map}': ['p(95)<200'], 'http_req_duration{step:hold}': ['p(95)<200'],
        'http_req_duration{step:order}': ['p(95)<200']
    }
};

export function member() {
    const member = newMember();
    const token = waitForTurn(member);
    if (token) {
        book(member, token);
    }
}
