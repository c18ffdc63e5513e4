/* Queue and booking together: more come than the queue lets in, and those inside must not notice. */
import {book, newMember, openModel, waitForTurn} from './common.js';

export const options = {
    scenarios: {inflow: openModel(Number(__ENV.RATE || 200), __ENV.DURATION || '60s', 'member', {gracefulStop: '5m'})},
    thresholds: {
        'http_req_duration{step:hold}': ['p(95)<200'], 'http_req_duration{step:order}': ['p(95)<200'],
        'http_req_duration{step:position}': ['p(95)<50']
    }
};

export function member() {
    const member = newMember();
    const token = waitForTurn(member);
    if (token) {
        book(member, token);
    }
}
