/*
 * Requests to the operators' API with the key of this tab.
 */
import { storage } from './storage.mjs';

const KEY = 'sluice-operator-key';
const ANSWER_WITHIN_MS = 6000;
const kept = storage('sessionStorage');

/** A failed request: `status` 0 without an answer, `detail` a sentence for the operator. */
export class Refusal extends Error {
    constructor(status, code, detail, requestId) {
        super(detail);
        Object.assign(this, { status, code, detail, requestId });
    }
}

export const key = {
    get: () => kept.get(KEY),
    set: (text) => kept.set(KEY, text),
    forget: () => kept.forget(KEY),
};

function refusalOf(answer, json) {
    const detail = answer.status === 429 ? 'Too many requests from here: the server asks for a pause.'
        : json.detail || json.title || `The server answered ${answer.status}.`;
    return new Refusal(answer.status, json.code || '', detail, answer.headers.get('X-Request-Id'));
}

/** One request below /v1/admin; returns the JSON of the answer, throws Refusal. `more.within`: time-out in ms. */
export async function ask(method, path, body, more = {}) {
    const control = new AbortController();
    const timer = setTimeout(() => control.abort(), more.within || ANSWER_WITHIN_MS);
    const headers = { Accept: 'application/json', Authorization: `Bearer ${more.key || key.get()}` };
    if (body !== undefined)
        headers['Content-Type'] = 'application/json';
    let answer;
    let text;
    try {
        answer = await fetch(`/v1/admin${path}`, {
            method,
            headers,
            body: body === undefined ? undefined : JSON.stringify(body),
            cache: 'no-store',
            credentials: 'omit',
            redirect: 'error',
            signal: control.signal,
        });
        text = await answer.text();
    } catch (error) {
        throw new Refusal(0, '', control.signal.aborted ? 'The server did not answer in time.' : 'The server cannot be reached.');
    } finally {
        clearTimeout(timer);
    }
    let json = {};
    try {
        json = text ? JSON.parse(text) : {};
    } catch (error) {
        if (answer.ok)
            throw new Refusal(answer.status, '', 'The answer cannot be read.');
    }
    if (!answer.ok)
        throw refusalOf(answer, json);
    return json;
}

/** What to say about a refused change, including whether it may have happened. */
export function sentenceOf(refusal) {
    if (!(refusal instanceof Refusal))
        throw refusal;
    const about = refusal.requestId ? ` (request ${refusal.requestId})` : '';
    return refusal.status === 0 ? `${refusal.detail} It may have happened or not: look before you repeat it.` : refusal.detail + about;
}
