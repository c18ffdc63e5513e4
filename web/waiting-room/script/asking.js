/*
 * Requests: one at a time, each scheduled by the last. answers.js handles the answers.
 */

/* Of each kind of request; its own name and GET where it is missing. */
const ADDRESSES = {enter: 'entries', code: 'entries', leave: 'entries', ask: 'position', prove: 'challenge', reload: 'board'};
const METHODS = {enter: 'POST', code: 'POST', leave: 'DELETE'};
let next = null, timer = 0, limit, busy = false, urgent = null, notBefore = 0, abort = null, heardAt = clock();

function plan(kind, delay) {
    next = kind;
    clearTimeout(timer);
    timer = setTimeout(run, Math.max(delay, notBefore - clock(), 0));
}

function stop(face) {
    me.ending = face;
    me.proving = next = null;
    clearTimeout(timer);
}

/* The person's action: now, or after the request in flight. */
function soon(kind) {
    urgent = kind;
    if (!busy) {
        plan(kind, 0);
    }
}

function request(method, url, body) {
    abort = window.AbortController ? new AbortController() : {abort() {}};
    return new Promise((resolve, reject) => {
        // Of the request before, which may have failed early.
        clearTimeout(limit);
        limit = setTimeout(() => {
            abort.abort();
            reject();
        }, 15000);
        fetch(url, {
            method, body, credentials: 'same-origin', redirect: 'error', headers: {Accept: 'application/json'},
            cache: url === state.board ? 'no-cache' : 'no-store', signal: abort.signal
        }).then((response) => response.text().then((text) => {
            // An HTML page, as a captive portal may send, is no answer.
            const json = text[0] === '{', body = json ? JSON.parse(text) : {};
            resolve({body, ok: response.ok && (json || response.status === 204), status: response.status,
                retryMs: body.retryAfterMs || response.headers.get('Retry-After') * 1000 || 0});
        })).catch(reject);
    });
}

function run() {
    const kind = next;
    if (kind === 'open') {
        open();
    } else if (kind === 'reload' && clock() - heardAt < HEARD_MS) {
        reload();
    } else if (kind && !busy) {
        busy = true;
        urgent = null;
        const code = kind === 'code' ? byId('code').value.trim() : undefined;
        const captcha = /code|enter/.test(kind) && me.proof || undefined;
        const body = code || captcha ? JSON.stringify({code, captcha}) : undefined;
        request(METHODS[kind] || 'GET', state[ADDRESSES[kind] || kind], body)
            .then((answer) => handle(kind, answer), () => inTrouble(kind, 'offline', 0))
            // An answer that cannot be handled is none.
            .catch(() => inTrouble(kind, 'unreachable', 0))
            .then(() => {
                busy = false;
                if (urgent) {
                    plan(urgent, 0);
                }
                render();
            });
    }
}

function inTrouble(kind, trouble, retryMs) {
    me.failures++;
    me.trouble = trouble;
    if (me.status === 'NOT_ENTERED' && !me.ending) {
        me.ending = 'UNAVAILABLE';
    }
    // A missed read of the board is best made up for by an exact answer.
    plan(kind === 'board' && isWaiting() && !me.ending ? 'ask' : kind,
        Math.max(retryMs, backoff(me.failures, chance())));
}

function handle(kind, answer) {
    const act = answer.ok || kind === 'reload' ? ANSWERS[kind] : PROBLEMS[answer.body.code];
    heardAt = clock();
    notBefore = /429|503/.test(answer.status) ? clock() + stayAway(answer.retryMs, chance()) : 0;
    if (!answer.ok && /result|board/.test(kind)) {
        me.boardFailed = kind === 'board';
        me.boardAt = clock();
        decide(kind);
    } else if (act) {
        me.failures = 0;
        me.trouble = null;
        act(answer.body, kind, answer.retryMs);
    } else {
        inTrouble(kind, answer.status === 429 ? me.trouble : 'unreachable', answer.retryMs);
    }
}

/* The network is back, or the tab is visible again: catches up immediately. What changes a place, as the person wished, is not
 * given up for a poll. */
function wake() {
    me.failures = 0;
    if (next && !busy) {
        plan(isWaiting() && !me.ending && !METHODS[next] && clock() - me.askedAt > 3000 ? 'ask' : next, 0);
    }
}
