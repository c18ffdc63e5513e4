/*
 * What all scripts need: members with logins, and the steps of a member's way. Each member is a new one.
 */
import http from 'k6/http';
import crypto from 'k6/crypto';
import encoding from 'k6/encoding';
import exec from 'k6/execution';
import {check, sleep} from 'k6';

export const BASE = __ENV.BASE_URL || 'http://127.0.0.1:8080';
export const QUEUE = __ENV.QUEUE || 'bench';
export const EVENT = __ENV.EVENT || 'bench';
export const SHOW = __ENV.SHOW || 'bench';
export const SKU = __ENV.SKU || 'bench-mug';
export const THINK_S = Number(__ENV.THINK_S || 2);
const KEY = __ENV.MEMBER_KEY || '';
const RUN = Date.now().toString(36);
const MOST_POLLS = 600;

/** A login of the shop's for a new member: HS256 under MEMBER_KEY. */
export function newMember() {
    const id = `k6-${RUN}-${exec.scenario.name}-${exec.scenario.iterationInTest}`;
    const now = Math.floor(Date.now() / 1000);
    const part = (value) => encoding.b64encode(JSON.stringify(value), 'rawurl');
    const text = `${part({alg: 'HS256', typ: 'JWT'})}.${part({sub: id, iat: now, exp: now + 3600})}`;
    const signature = crypto.hmac('sha256', KEY, text, 'base64rawurl');
    return {id, headers: {Authorization: `Bearer ${text}.${signature}`, 'Content-Type': 'application/json'}};
}

/** An arrival rate that waits for nobody: latency then counts what a real crowd would see. */
export function openModel(rate, duration, exec, more = {}) {
    return {executor: 'constant-arrival-rate', rate, timeUnit: '1s', duration, exec,
        preAllocatedVUs: Math.min(5000, rate * 2), maxVUs: 20000, ...more};
}

export function enter(member) {
    const answer = http.post(`${BASE}/v1/queues/${QUEUE}/entries`, null, {headers: member.headers, tags: {step: 'enter'}});
    check(answer, {'entered': (it) => it.status === 201 || it.status === 200});
    return answer.status < 300 ? answer.json() : null;
}

/** One look at the own place, by the ticket alone. */
export function poll(ticket) {
    const answer = http.get(`${BASE}/v1/queues/${QUEUE}/position`,
        {headers: {'X-Queue-Ticket': ticket}, tags: {step: 'position'}});
    check(answer, {'knows the place': (it) => it.status === 200});
    return answer.status === 200 ? answer.json() : null;
}

/** Enters and waits as the server says; the entry token, or null. */
export function waitForTurn(member) {
    let place = enter(member);
    const ticket = place && place.queueTicket;
    for (let polls = 0; place && !place.entryToken && polls < MOST_POLLS; polls++) {
        sleep(place.retryAfterMs / 1000);
        place = poll(ticket) || place;
    }
    return place && place.entryToken;
}

function withToken(member, token, more = {}) {
    return {...member.headers, 'X-Entry-Token': token, ...more};
}

export function coupon(member, token) {
    const answer = http.post(`${BASE}/v1/coupon-events/${EVENT}/coupons`, '{}',
        {headers: withToken(member, token), tags: {step: 'coupon'}});
    check(answer, {'has a coupon': (it) => it.status === 201 || it.status === 200});
    return answer;
}

export function order(member, token, goods) {
    const answer = http.post(`${BASE}/v1/orders`, JSON.stringify({queue: QUEUE, ...goods}),
        {headers: withToken(member, token, {'Idempotency-Key': member.id}), tags: {step: 'order'}});
    check(answer, {'has ordered': (it) => it.status === 201 || it.status === 200});
    return answer;
}

export function seatMap(member) {
    const answer = http.get(`${BASE}/v1/shows/${SHOW}/seats`, {headers: member.headers, tags: {step: 'map'}});
    return answer.status === 200 ? answer.json().seats.filter((seat) => seat.status === 'AVAILABLE') : [];
}

export function hold(member, token, seat) {
    return http.post(`${BASE}/v1/shows/${SHOW}/holds`, JSON.stringify({seats: [seat]}),
        {headers: withToken(member, token), tags: {step: 'hold'}, responseCallback: http.expectedStatuses(201, 409)});
}

/** Map, hold (three tries, then the map again), order, with time to think before each. */
export function book(member, token) {
    for (let maps = 0; maps < 3; maps++) {
        const free = seatMap(member);
        sleep(THINK_S);
        for (let tries = 0; tries < 3 && free.length > 0; tries++) {
            const seat = free[Math.floor(Math.random() * free.length)].id;
            if (hold(member, token, seat).status === 201) {
                sleep(THINK_S);
                return order(member, token, {show: SHOW, seats: [seat]}).status === 201;
            }
        }
    }
    return false;
}
