/*
 * Requests to Sluice's API: a single one, or repeated until the answer is not "later".
 */
(function (shop) {
    'use strict';

    const ANSWER_WITHIN_MS = 15000;
    const BUSY_AT_MOST_MS = 60000;
    const BUSY_PAUSE_S = 2;
    const LATER = ['ORDER_IN_PROGRESS', 'COUPON_BUSY'];
    let clockAhead = 0;

    /** The network gave no answer. */
    class Lost extends Error {}

    /** Estimates the server's clock from an answer to a request sent at `sent`. Its resolution is whole seconds. */
    function learnClock(date, sent) {
        if (!Number.isNaN(date))
            clockAhead = date + 500 - (sent + Date.now()) / 2;
    }

    /** One request. Returns {status, code, body, retryAfter in s or NaN}; throws Lost. */
    async function call(method, path, { headers = {}, body } = {}) {
        const control = new AbortController();
        const timer = setTimeout(() => control.abort(), ANSWER_WITHIN_MS);
        const sent = Date.now();
        const options = {
            method,
            headers: { Accept: 'application/json', ...headers },
            cache: 'no-store',
            signal: control.signal,
        };
        if (body) {
            options.body = JSON.stringify(body);
            options.headers['Content-Type'] = 'application/json';
        }
        try {
            const answer = await fetch(path, options);
            learnClock(Date.parse(answer.headers.get('Date')), sent);
            const text = await answer.text();
            const json = text ? JSON.parse(text) : {};
            return {
                status: answer.status,
                code: answer.ok ? '' : json.code || '',
                body: json,
                retryAfter: Number.parseInt(answer.headers.get('Retry-After'), 10),
            };
        } catch (error) {
            throw new Lost(error.message);
        } finally {
            clearTimeout(timer);
        }
    }

    /** Whether the same request should be retried later. */
    function isBusy(answer) {
        return answer.status === 429 || answer.status === 503 || LATER.includes(answer.code);
    }

    /** How long to wait before that, in s. Randomized, so that clients refused together do not come back
     *  together. */
    function busyPause(answer) {
        return (answer.retryAfter > 0 ? answer.retryAfter : BUSY_PAUSE_S) * (1 + Math.random() / 4);
    }

    /** Retries the request as long as the answer is "later", for a minute. `onBusy` gets the seconds until the next
     *  try. */
    async function persist(onBusy, ...request) {
        const end = Date.now() + BUSY_AT_MOST_MS;
        for (;;) {
            const answer = await call(...request);
            const pause = busyPause(answer);
            if (!isBusy(answer) || Date.now() + pause * 1000 > end)
                return answer;
            onBusy(Math.round(pause));
            await new Promise((done) => setTimeout(done, pause * 1000));
        }
    }

    Object.assign(shop, {
        Lost,
        call,
        isBusy,
        busyPause,
        persist,
        /** The page of an order. */
        resultPath: (id) => `/shop/result.html?order=${encodeURIComponent(id)}`,
        /** The time by the server's clock, as far as known, in ms. */
        now: () => Date.now() + clockAhead,
    });
}(window.shop));
