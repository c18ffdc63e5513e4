/*
 * The waiting page. Far from the front it reads the board, a document for everyone, and computes the place
 * from its own number; it asks exactly near the front and when something does not add up. One request at a
 * time, each planned by the last. ES2015 only, for old phones. The first half only decides, and tests load it
 * by tests/page/waiting_page.js; the second half is the page.
 */
(function () {
'use strict';

const NEAR_AHEAD = 20, NEAR_SECONDS = 5, STALLED_MS = 10000, BOARD_MS = 3000, SPREAD_MS = 5000, RECHECK_MS = 300000;
const RELOADS_IN_A_ROW = 5, RELOAD_GAP_MS = 3000, ROW_MS = 60000;

/** The 1-based place of number `seq` by the board; null where the board cannot tell. */
function placeFromBoard(board, seq) {
    // A board from before the number was given says nothing of it.
    if (!(seq >= board.headSeq) || board.lastSeq < seq) {
        return null;
    }
    let place = seq - board.headSeq + 1;
    for (const gone of board.departures || []) {
        // A range only partly between may have lost people behind us, or before the head.
        if (gone.from >= board.headSeq && gone.to < seq) {
            place -= gone.count;
        }
    }
    return Math.max(1, board.waiting > 0 ? Math.min(place, board.waiting) : place);
}

/** The way so far: {key, first, shown}. What is shown never grows while the number (key) stays. */
function followWay(way, key, place) {
    return way && way.key === key ? {key, first: way.first, shown: Math.min(way.shown, place)} :
        {key, first: place, shown: place};
}

function standsStill(me) {
    return me.queueState === 'PRE_OPEN' || me.queueState === 'PAUSED' || me.activation === 'hold';
}

function isDrawn(me) {
    return me.exactOnly || me.mode === 'lottery';
}

/** Why the place must be asked for, or null where the board is enough. `now` in ms. */
function whyAsk(me, board, now) {
    const exact = isDrawn(me) || me.seq == null, moves = !standsStill(me);
    const close = !me.place || me.place <= NEAR_AHEAD + 1 || me.eta <= NEAR_SECONDS;
    if (moves && (exact || close)) {
        return exact ? 'exact' : 'near';
    }
    if (!board || me.boardFailed) {
        return 'board';
    }
    if (me.seq != null && (board.epoch !== me.epoch || board.incarnation !== me.incarnation)) {
        return 'changed';
    }
    if (me.boardStalled) {
        return 'stalled';
    }
    if (!exact && board.headSeq > me.seq) {
        return 'passed';
    }
    return now - me.askedAt >= me.askEvery ? 'recheck' : null;
}

/** How long to hold a question back, in ms, so that a crowd does not ask at once. */
function spreadOf(why, waiting, random) {
    const most = {changed: SPREAD_MS, stalled: SPREAD_MS, board: SPREAD_MS, passed: 1000,
        exact: Math.min(30000, (waiting || 0) / 20)};
    return random * (most[why] || 0);
}

/** Time to the next look at the board, in ms: 1 to 30 s by the wait left, and up to a quarter more. */
function boardDelay(me, random) {
    const eta = me.eta === undefined ? (me.place || 3000) / 10 : me.eta;
    const seconds = standsStill(me) ? 5 : eta <= 10 ? 1 : eta <= 60 ? 2 : eta <= 300 ? 5 : eta <= 1800 ? 10 : 30;
    return seconds * 1000 * (1 + random / 4);
}

/** The same in a hidden tab: 30 to 60 s, but well within the time one may be away at the front. */
function hiddenDelay(pickupSeconds, random) {
    const longest = Math.min(60, (pickupSeconds || 90) / 2), shortest = Math.min(30, longest * 0.75);
    return (shortest + (longest - shortest) * random) * 1000;
}

/** Time to the next try after so many failures, in ms: doubling up to 30 s, at least half of it. */
function backoff(failures, random) {
    return Math.min(30000, 500 * Math.pow(2, Math.min(failures, 6))) * (0.5 + random / 2);
}

/** How long to stay away, in ms, where the server has said so: not all of a crowd come back in one moment. */
function stayAway(retryMs, random) {
    return retryMs * (1 + random / 4);
}

function approach(from, to, seconds, slowness) {
    return from + (to - from) * (1 - Math.exp(-seconds / slowness));
}

/** The wait to show, in seconds: goes to `target` steadily, down sooner than up. */
function damp(shown, target, seconds) {
    return shown === undefined ? target : approach(shown, target, seconds, target > shown ? 90 : 20);
}

/** A wait in seconds as a range to say: {key, low, high}. */
function waitRange(seconds) {
    const hours = seconds > 4500, unit = hours ? 3600 : 60;
    const step = hours ? 0.5 : seconds > 750 ? 5 : 1;
    const low = Math.max(step, Math.floor(seconds * 0.85 / unit / step) * step);
    const high = Math.max(low + step, Math.ceil(seconds * 1.2 / unit / step) * step);
    return seconds <= 50 ? {key: 'lessThanMinute', low: 0, high: 1} :
        {key: high > 24 && hours ? 'veryLong' : hours ? 'hourRange' : 'minuteRange', low, high};
}

/** A number of people as one would say it: only a change of it is worth an announcement. */
function roundedAhead(ahead) {
    const step = ahead <= 10 ? 1 : ahead <= 100 ? 10 : Math.pow(10, String(ahead).length - 1 - (ahead > 1000));
    return Math.ceil(ahead / step) * step;
}

/** The share of the way done, in per cent. */
function progressShare(way) {
    return way ? Math.round((way.first - way.shown) / way.first * 100) : 0;
}

/** How long to wait before the page is loaded again, in ms; -1: too often already. */
function reloadWait(record, now) {
    if (!record || now - record.at > ROW_MS) {
        return 0;
    }
    return record.count >= RELOADS_IN_A_ROW ? -1 : Math.max(0, record.at + RELOAD_GAP_MS - now);
}

/** The face for what is known. `me.ending` is one that an answer or the person must end. */
function faceFor(me) {
    if (me.ending) {
        return me.ending;
    }
    const over = me.queueState === 'SOLD_OUT' || me.queueState === 'CLOSED';
    const ready = me.status === 'READY' && me.activation !== 'hold';
    if (over && !ready) {
        return me.queueState;
    }
    if (me.unsafe || ready) {
        return me.unsafe ? 'UNSAFE' : 'READY';
    }
    if (standsStill(me)) {
        return me.activation === 'hold' ? 'HOLD' : me.queueState;
    }
    return me.status === 'WAITING' ? 'WAITING' : me.proving ? 'PROOF' : 'JOIN';
}

/* SHA-256, of eight words and a counter: a page without TLS has no other. Its constants are fractions of primes' roots. */
const PRIMES = [], fraction = (x) => x % 1 * 4294967296 | 0;
for (let n = 2; n < 312; n++) {
    if (PRIMES.every((prime) => n % prime)) {
        PRIMES.push(n);
    }
}
const ROUNDS = PRIMES.map((n) => fraction(Math.cbrt(n))), START = PRIMES.slice(0, 8).map((n) => fraction(Math.sqrt(n)));
const spin = (x, n) => x >>> n | x << 32 - n, mix = (x, m, n, last) => spin(x, m) ^ spin(x, n) ^ last;

function hash(text, counter) {
    const w = text.concat(counter, 1 << 31, 0, 0, 0, 0, 0, 288);
    let [a, b, c, d, e, f, g, h] = START;
    for (let i = 0; i < 64; i++) {
        if (i > 15) {
            const x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + mix(x, 7, 18, x >>> 3) + w[i - 7] + mix(y, 17, 19, y >>> 10) | 0;
        }
        const t = h + mix(e, 6, 11, spin(e, 25)) + (e & f ^ ~e & g) + ROUNDS[i] + w[i] | 0;
        h = g; g = f; f = e; e = d + t | 0; d = c;
        [a, b, c] = [t + mix(a, 2, 13, spin(a, 22)) + (a & b ^ a & c ^ b & c) | 0, a, b];
    }
    return [a, b, c, d, e, f, g, h].map((word, i) => word + START[i] | 0);
}

/** Tries some counters of an ALTCHA challenge. Gives {solution}, or the next {counter}. */
function tryCounters(challenge, counter) {
    const p = challenge.parameters, words = (hex) => hex.match(/.{8}/g).map((word) => parseInt(word, 16) | 0);
    const text = words(p.salt + p.nonce), wanted = words(p.keyPrefix);
    for (const end = counter + 2000; counter < end; counter++) {
        const key = hash(text, counter);
        if (wanted.every((word, i) => word === key[i])) {
            const hex = key.map((word) => ('0000000' + (word >>> 0).toString(16)).slice(-8)).join('');
            return {solution: {counter, derivedKey: hex, time: 0}};
        }
    }
    return {counter};
}

function fill(text, values) {
    return text.replace(/\{(\w+)\}/g, (all, name) => name in values ? values[name] : all);
}

/** A length of time in words. A unit serves from two of it on, so no language needs its singular. */
function durationText(seconds, texts) {
    const unit = [['days', 86400], ['hours', 3600], ['minutes', 60]].filter((one) =>
        seconds >= (seconds % one[1] === 0 ? 2 : 5) * one[1])[0];
    return seconds < 10 ? texts.lessThanMinute :
        fill(texts[unit ? unit[0] : 'seconds'], {n: Math.round(seconds / (unit ? unit[1] : 1))});
}

/** Time left, in ms, as h:mm:ss. */
function clockText(ms) {
    const seconds = Math.max(0, Math.ceil(ms / 1000)), hours = Math.floor(seconds / 3600);
    const two = (value) => ('0' + value % 60).slice(-2);
    return (hours ? hours + ':' : '') + two(Math.floor(seconds / 60)) + ':' + two(seconds);
}

/* ---- The page: what is known ---- */

const byId = (id) => document.getElementById(id);
const all = (selector) => Array.from(document.querySelectorAll(selector));
const state = JSON.parse(byId('state').textContent);
const languages = JSON.parse(byId('texts').textContent);
const me = Object.assign({}, state, {
    status: state.status || 'NOT_ENTERED', unsafe: state.face === 'UNSAFE', way: recall('way'),
    activation: state.face === 'HOLD' ? 'hold' : null, askedAt: Date.now(), askEvery: RECHECK_MS, boardAt: 0,
    ending: /JOIN|PROOF|WAITING|READY|PRE_OPEN|PAUSED|HOLD|UNSAFE/.test(state.face) ? null : state.face,
    result: null, trouble: null, rateAt: 0, waitAt: 0, failures: 0, proving: state.face === 'PROOF', proofs: 0, proof: null, enteredAgainAt: 0, resultAt: 0
});
let lang = languages[state.lang] ? state.lang : 'en', texts = languages[lang];
let board = null, clockOffset = 0;

/* What must live through a reload; in the history entry where storage is refused. */
function keyOf(name) {
    return 'sluice.' + state.queue + '.' + name;
}

function remember(name, value) {
    try {
        sessionStorage.setItem(keyOf(name), JSON.stringify(value));
    } catch (refused) {
        history.replaceState(Object.assign({}, history.state, {[keyOf(name)]: value}), '');
    }
}

function recall(name) {
    try {
        return JSON.parse(sessionStorage.getItem(keyOf(name)));
    } catch (refused) {
        return (history.state || {})[keyOf(name)];
    }
}

function learnTime(text) {
    clockOffset = text ? Date.parse(text) - Date.now() : clockOffset;
}

function msToOpening() {
    return Date.parse(me.opensAt) - Date.now() - clockOffset;
}

function learnPlace(place) {
    me.place = place;
    // A draw may still give any place: there is nothing to hold to before the opening.
    if (place && me.queueState !== 'PRE_OPEN') {
        me.way = followWay(me.way, me.epoch + '.' + me.seq, place);
        me.place = me.way.shown;
        remember('way', me.way);
    }
}

/* The wait left, by the place and a rate that follows its samples slowly. */
function learnWait(rate) {
    const now = Date.now();
    me.eta = undefined;
    if (me.status === 'WAITING' && !standsStill(me) && me.place) {
        if (rate >= 0) {
            me.rate = me.rate ? approach(me.rate, rate, (now - me.rateAt) / 1000, 60) : rate;
            me.rateAt = now;
        }
        if (me.rate > 0.0001) {
            me.eta = me.place / me.rate;
            me.wait = damp(me.wait, me.eta, (now - me.waitAt) / 1000);
            me.waitAt = now;
        }
    }
}

function learnPosition(answer) {
    const place = answer.rank == null ? null : answer.rank + 1;
    learnTime(answer.serverTime);
    for (const name of ['status', 'queueState', 'seq', 'epoch', 'incarnation', 'retryAfterMs', 'exactOnly']) {
        me[name] = answer[name];
    }
    me.waiting = answer.currentTotalWaitingCount || answer.waiting;
    me.askedAt = Date.now();
    me.askEvery = RECHECK_MS * (0.8 + 0.4 * Math.random());
    learnPlace(place);
    learnWait(answer.estimatedWaitSeconds ? place / answer.estimatedWaitSeconds : -1);
    if (me.status === 'WAITING') {
        remember('reloads', null);
    }
}

function learnBoard(answer) {
    const now = Date.now();
    if (!board || answer.serverTime !== board.serverTime) {
        me.boardMovedAt = now;
        learnTime(answer.serverTime);
    }
    board = answer;
    me.boardAt = now;
    me.boardFailed = false;
    me.boardStalled = now - me.boardMovedAt > STALLED_MS;
    if (me.boardStalled) {
        return;
    }
    me.queueState = answer.state;
    for (const name of ['activation', 'mode', 'message', 'opensAt', 'waiting']) {
        me[name] = answer[name];
    }
    if (me.status === 'WAITING' && !isDrawn(me) && board.epoch === me.epoch &&
        board.incarnation === me.incarnation) {
        learnPlace(placeFromBoard(board, me.seq) || me.place);
    }
    learnWait(answer.admittedPerSecond);
}

/* ---- Asking: one request at a time ---- */

const REQUESTS = {
    enter: ['POST', state.entries], leave: ['DELETE', state.entries], ask: ['GET', state.position],
    prove: ['GET', state.challenge], board: ['GET', state.board], result: ['GET', state.result], code: ['POST', state.entries]
};
let next = null, timer = 0, busy = false, urgent = null, notBefore = 0, abort = null;

function plan(kind, delay) {
    next = kind;
    clearTimeout(timer);
    timer = setTimeout(run, Math.max(delay, notBefore - Date.now(), 0));
}

function stop(face) {
    me.ending = face;
    me.proving = false;
    next = null;
    clearTimeout(timer);
}

/* What the person wants: now, or after the request that is under way. */
function soon(kind) {
    urgent = kind;
    if (!busy) {
        plan(kind, 0);
    }
}

function request(method, url, body) {
    abort = window.AbortController ? new AbortController() : {abort() {}};
    return new Promise((resolve, reject) => {
        const limit = setTimeout(() => {
            abort.abort();
            reject();
        }, 15000);
        fetch(url, {
            method, body, credentials: 'same-origin', redirect: 'error', headers: {Accept: 'application/json'},
            cache: url === state.board ? 'no-cache' : 'no-store', signal: abort.signal
        }).then((response) => response.text().then((text) => {
            // A page of HTML, as a strange network may put in between, is no answer.
            const json = text.charAt(0) === '{', body = json ? JSON.parse(text) : {};
            clearTimeout(limit);
            resolve({body, ok: response.ok && (json || response.status === 204), status: response.status,
                retryMs: body.retryAfterMs || response.headers.get('Retry-After') * 1000 || 0});
        })).catch(reject);
    });
}

function run() {
    const kind = next;
    if (kind === 'open') {
        open();
    } else if (kind && !busy) {
        busy = true;
        urgent = null;
        const code = kind === 'code' ? byId('code').value.trim() : undefined;
        const captcha = kind === 'code' || kind === 'enter' ? me.proof || undefined : undefined;
        const body = code || captcha ? JSON.stringify({code, captcha}) : undefined;
        request(REQUESTS[kind][0], REQUESTS[kind][1], body)
            .then((answer) => handle(kind, answer), () => inTrouble(kind, 'offline', 0))
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
    // A missed look at the board is best made up for by an exact answer.
    plan(kind === 'board' && me.status === 'WAITING' && !me.ending ? 'ask' : kind,
        Math.max(retryMs, backoff(me.failures, Math.random())));
}

function handle(kind, answer) {
    const act = answer.ok ? ANSWERS[kind] : PROBLEMS[answer.body.code];
    notBefore = answer.status === 429 || answer.status === 503 ?
        Date.now() + stayAway(answer.retryMs, Math.random()) : 0;
    if (!answer.ok && (kind === 'result' || kind === 'board')) {
        me.boardFailed = kind === 'board';
        me.boardAt = Date.now();
        decide(kind);
    } else if (act) {
        me.failures = 0;
        me.trouble = null;
        act(answer.body, kind, answer.retryMs);
    } else {
        inTrouble(kind, answer.status === 429 ? me.trouble : 'unreachable', answer.retryMs);
    }
}

const ANSWERS = {
    enter(body) {
        me.ending = me.proof = null;
        me.proving = false;
        me.proofs = 0;
        learnPosition(body);
        follow('enter');
    },
    code(body) {
        ANSWERS.enter(body);
        me.note = 'noteCode';
        byId('coding').open = false;
    },
    ask(body) {
        learnPosition(body);
        if (me.status === 'NOT_ENTERED' && me.queueState !== 'SOLD_OUT' && me.queueState !== 'CLOSED') {
            enterAgain('noteAgain');
        } else {
            me.ending = null;
            follow('ask');
        }
    },
    prove(challenge) {
        next = null;
        solve(challenge, 0, ++me.proofs);
    },
    board(body) {
        learnBoard(body);
        if (me.activation === 'off' || me.activation === 'watch') {
            plan('open', Math.random() * SPREAD_MS);
        } else {
            follow('board');
        }
    },
    result(body) {
        me.result = body;
        decide('result');
    },
    leave() {
        me.status = 'NOT_ENTERED';
        me.note = null;
        stop('LEFT');
    }
};

const PROBLEMS = {
    COOKIES_REQUIRED: () => stop('COOKIES'),
    UNAUTHENTICATED: (body, kind) => kind === 'ask' ? plan('enter', 0) :
        stop(me.identity === 'member' ? 'LOGIN' : 'COOKIES'),
    SESSION_REVOKED: () => stop('TAKEN_OVER'),
    QUEUE_RESET: () => enterAgain('noteReset'),
    TICKET_INVALID: () => enterAgain('noteAgain'),
    SOLD_OUT: () => decide('enter', 'SOLD_OUT'),
    QUEUE_CLOSED: () => decide('enter', 'CLOSED'),
    NOT_FOUND: () => decide('enter', 'NOT_CONFIGURED'),
    QUEUE_FULL: (body, kind, retryMs) => tryLater('FULL', Math.max(retryMs, 10000)),
    ALREADY_ACTIVE: () => tryLater('ORDER', 20000),
    CAPTCHA_FAILED() {
        me.ending = me.proof = null;
        me.proving = true;
        plan('prove', me.proofs ? backoff(me.proofs, Math.random()) : 0);
    },
    CODE_INVALID() {
        me.note = 'noteCodeWrong';
        plan(me.status === 'WAITING' ? 'ask' : 'enter', 1000);
    },
    ORDER_IN_PROGRESS() {
        me.note = 'noteOrder';
        plan('ask', 1000);
    }
};

/* Does the proof of work, in pieces that nobody notices, and enters with it. `number`: of the challenge, the last counts. */
function solve(challenge, counter, number) {
    const found = tryCounters(challenge, counter);
    if (me.proving && number === me.proofs && found.solution) {
        me.proof = btoa(JSON.stringify({challenge, solution: found.solution}));
        plan('enter', 0);
    } else if (me.proving && number === me.proofs) {
        setTimeout(solve, 0, challenge, found.counter, number);
    }
}

function tryLater(face, delay) {
    me.ending = face;
    plan('enter', delay * (1 + Math.random() / 4));
}

/* By itself once: whoever loses the place again at once is asked. */
function enterAgain(note) {
    const now = Date.now();
    me.status = 'NOT_ENTERED';
    if (now - me.enteredAgainAt < ROW_MS) {
        stop('LEFT');
    } else {
        me.enteredAgainAt = now;
        me.note = note;
        plan('enter', Math.random() * 2000);
    }
}

function follow(kind) {
    if (!me.ending && me.status === 'READY' && me.activation !== 'hold') {
        open();
    } else {
        decide(kind);
    }
}

/* What to do after `kind`, and when. */
function decide(kind, ending) {
    me.ending = ending || me.ending;
    const now = Date.now(), random = Math.random(), face = faceFor(me), waits = me.status === 'WAITING';
    const why = waits && whyAsk(me, board, now), close = why === 'near' || why === 'exact';
    const retryMs = me.retryAfterMs || 1000;
    if (/SOLD_OUT|CLOSED|NOT_CONFIGURED/.test(face)) {
        if (kind === 'board' && !me.boardFailed && /OPEN|PAUSED/.test(me.queueState)) {
            plan(waits ? 'ask' : 'enter', random * SPREAD_MS);
        } else if (face !== 'NOT_CONFIGURED' && now - me.resultAt > RECHECK_MS) {
            me.resultAt = now;
            plan('result', random * 3000);
        } else {
            plan('board', 20000 + random * 20000);
        }
    } else if (me.status === 'NOT_ENTERED') {
        plan('enter', random * 1000);
    } else if (kind === 'board' && why) {
        plan('ask', Math.max(spreadOf(why, me.waiting, random), me.askedAt + retryMs - now));
    } else if (document.hidden) {
        plan('board', hiddenDelay(state.pickupSeconds, random));
    } else if (close) {
        plan(now - me.boardAt < BOARD_MS ? 'ask' : 'board', retryMs);
    } else {
        const delay = Math.max(boardDelay(me, random), kind === 'ask' ? retryMs : 0);
        const opening = me.queueState === 'PRE_OPEN' ? msToOpening() : 0;
        plan('board', opening > 0 ? Math.min(delay, opening + random * 2000) : delay);
    }
}

/* The network is back, or the tab is seen again: catch up at once. */
function wake() {
    me.failures = 0;
    if (next && !busy) {
        plan(me.status === 'WAITING' && !me.ending && Date.now() - me.askedAt > 3000 ? 'ask' : next, 0);
    }
}

/* ---- The person's turn ---- */

let sound = null;

function beep(loudness) {
    [660, 880].forEach((pitch, i) => {
        const tone = sound.createOscillator(), gain = sound.createGain(), at = sound.currentTime + i * 0.18;
        tone.frequency.value = pitch;
        gain.gain.setValueAtTime(loudness, at);
        gain.gain.exponentialRampToValueAtTime(0.001, at + 0.3);
        tone.connect(gain);
        gain.connect(sound.destination);
        tone.start(at);
        tone.stop(at + 0.3);
    });
}

function wantAlert() {
    const show = () => {
        byId('notify').setAttribute('aria-pressed', 'true');
        writeKey('notify', window.Notification && Notification.permission === 'granted' ? 'notifyBoth' : 'notifySound');
    };
    if (!sound) {
        sound = new (window.AudioContext || window.webkitAudioContext)();
        beep(0.08);
    }
    show();
    if (window.Notification) {
        Notification.requestPermission(show);
    }
}

function alertPerson() {
    beep(0.3);
    try {
        new Notification(texts.readyTitle, {body: location.hostname, tag: 'sluice'}).onclick = () => focus();
    } catch (unsupported) {
        // Some phones show those of installed apps only: the sound must do.
    }
}

/* The gate lets this person through: the page loads its own address again. */
function open() {
    const now = Date.now(), record = recall('reloads'), wait = reloadWait(record, now);
    stop(null);
    me.status = 'READY';
    if (wait < 0) {
        // Let in again and again, and still here: the browser does not keep the pass.
        stop('COOKIES');
    } else if (!me.opening) {
        me.opening = true;
        if (sound) {
            alertPerson();
        }
        if (!me.unsafe) {
            setTimeout(() => {
                const row = record && now - record.at <= ROW_MS ? record.count : 0;
                remember('reloads', {count: row + 1, at: Date.now()});
                location.reload();
            }, Math.max(wait, sound ? 700 : 0));
        }
    }
    render();
}

/* ---- What is shown ---- */

const said = {message: me.message, at: Date.now()};
let focusNext = false;

/* Writes the text; hides the element for an empty one. */
function put(id, text) {
    const element = byId(id);
    element.hidden = !text;
    if (element.textContent !== text) {
        element.textContent = text;
    }
}

function writeKey(id, key) {
    byId(id).setAttribute('data-t', key);
    put(id, texts[key]);
}

function count(value) {
    return value.toLocaleString(lang);
}

function timeText(text) {
    return new Date(text).toLocaleString(lang, {month: 'long', day: 'numeric', hour: 'numeric', minute: '2-digit'});
}

function waitText() {
    const range = waitRange(me.wait);
    return me.eta === undefined ? '–' : fill(texts[range.key], {low: count(range.low), high: count(range.high)});
}

function headingOf(face) {
    return document.querySelector('.' + face + ' h1');
}

function renderOpening() {
    byId('opening').hidden = !me.opensAt;
    put('countdown', clockText(msToOpening()));
    put('opens-at', fill(texts.opensAt, {time: timeText(me.opensAt)}));
}

function renderResult(result) {
    const length = (seconds) => durationText(seconds, texts), list = byId('result-rows');
    const rows = {admitted: count, lastNumberServed: count, seq: count, soldOutAt: timeText,
        lastWaitSeconds: length, longestWaitSeconds: length};
    list.textContent = '';
    for (const name of Object.keys(rows)) {
        const value = name === 'seq' ? me.seq : result[name];
        if (value != null) {
            const group = list.appendChild(document.createElement('div'));
            group.appendChild(document.createElement('dt')).textContent = texts[name];
            group.appendChild(document.createElement('dd')).textContent = rows[name](value);
        }
    }
}

/* One thing at a time, and a place only every half minute and in round numbers. */
function announce(face, ahead) {
    const heading = headingOf(face), round = roundedAhead(ahead);
    let text = '';
    if (face !== said.face) {
        text = said.face ? heading.textContent + ' ' + (texts[me.note] || '') : '';
        if (focusNext) {
            heading.tabIndex = -1;
            heading.focus();
            focusNext = false;
        }
    } else if (me.trouble !== said.trouble) {
        text = texts[me.trouble || 'live'];
    } else if (me.message !== said.message) {
        text = me.message;
    } else if (ahead >= 0 && round !== said.round && Date.now() - said.at > 30000) {
        text = round ? fill(texts.sayPlace, {ahead: count(round)}) + ' ' + texts.wait + ': ' + waitText() :
            texts.sayNext;
        said.round = round;
    }
    if (text) {
        byId('live').textContent = text;
        said.at = Date.now();
    }
    Object.assign(said, {face, trouble: me.trouble, message: me.message});
}

function render() {
    const face = faceFor(me), ready = me.status === 'READY', drawn = isDrawn(me), early = face === 'PRE_OPEN';
    const known = me.status === 'WAITING' && me.place && !(drawn && me.queueState === 'PRE_OPEN');
    const share = progressShare(me.way), heading = headingOf(face).textContent;
    document.body.setAttribute('data-face', face);
    all('.face').forEach((element) => {
        element.hidden = !element.classList.contains(face);
    });
    writeKey('pre-open-text', drawn ? 'preOpenDraw' : 'preOpenText');
    writeKey('unsafe-text', ready ? 'unsafeReady' : 'unsafeText');
    byId('unsafe-back').hidden = !ready;
    renderOpening();
    byId('standing').hidden = byId('standing').hidden || (!known && face !== 'WAITING');
    byId('next').hidden = byId('next').hidden || ready;
    byId('leaving').hidden = me.status !== 'WAITING';
    put('place', known ? count(me.place) : '–');
    put('ahead', known ? count(me.place - 1) : '–');
    put('wait', waitText());
    byId('wait-row').hidden = early;
    byId('way').hidden = !known || !me.way || early;
    byId('bar').value = Math.max(share, 2);
    put('way-share', count(share) + ' %');
    byId('result').hidden = !me.result || !/SOLD_OUT|CLOSED/.test(face);
    renderResult(me.result || {});
    put('message', me.message || '');
    put('note', me.note && !me.ending && !ready ? texts[me.note] : '');
    put('connection', me.trouble || (next && !me.ending) ? texts[me.trouble || 'live'] : '');
    byId('connection').className = me.trouble ? 'lost' : '';
    document.title = [face !== 'WAITING' ? heading : known ? '#' + count(me.place) : '', texts.title,
        location.hostname].filter(Boolean).join(' – ');
    announce(face, known ? me.place - 1 : NaN);
}

function renderTexts() {
    document.documentElement.lang = lang;
    all('[data-t]').forEach((element) => {
        element.textContent = texts[element.getAttribute('data-t')];
    });
    byId('message').setAttribute('data-label', texts.messageLabel);
    byId('languages').setAttribute('aria-label', texts.language);
    all('#languages a').forEach((link) => link.setAttribute('aria-current', String(link.lang === lang)));
    [['keep', state.keepSeconds], ['pickup', state.pickupSeconds], ['turn', state.entryTtlSeconds]].forEach((row) => {
        if (row[1] > 0) {
            put(row[0], fill(texts[row[0]], {time: durationText(row[1], texts)}));
        }
    });
}

/* ---- Start ---- */

function changeLanguage(event) {
    if (languages[event.target.lang]) {
        event.preventDefault();
        lang = event.target.lang;
        texts = languages[lang];
        document.cookie = 'sluice_language=' + lang + '; Path=/; Max-Age=31536000; SameSite=Lax' +
            (location.protocol === 'https:' ? '; Secure' : '');
        renderTexts();
        render();
    }
}

function listen() {
    all('form').forEach((form) => form.addEventListener('submit', (event) => {
        event.preventDefault();
        focusNext = true;
        soon(form.className);
    }));
    byId('languages').addEventListener('click', changeLanguage);
    byId('notify').addEventListener('click', wantAlert);
    all('.again').forEach((link) => link.addEventListener('click', () => remember('reloads', null)));
    byId('unsafe-back').addEventListener('click', () => history.back());
    document.addEventListener('visibilitychange', () => document.hidden || wake());
    addEventListener('online', () => {
        if (busy) {
            abort.abort();
        }
        wake();
    });
    addEventListener('offline', () => {
        me.trouble = next ? 'offline' : null;
        render();
    });
    addEventListener('pageshow', (event) => {
        if (event.persisted && me.opening) {
            // Back from the shop by the browser's button: the pass may have ended since.
            me.opening = false;
            me.status = 'WAITING';
            next = 'ask';
        }
        wake();
    });
    setInterval(renderOpening, 1000);
}

byId('only').remove();
put('site', location.hostname);
byId('notify').hidden = !window.AudioContext && !window.webkitAudioContext;
listen();
renderTexts();
learnPosition(me);
if (!navigator.cookieEnabled && state.board) {
    stop('COOKIES');
} else if (me.ending === 'FULL' || me.ending === 'ORDER') {
    tryLater(me.ending, 10000);
} else if (me.ending === 'UNAVAILABLE') {
    plan(me.status === 'WAITING' ? 'ask' : 'enter', stayAway(me.retryAfterMs, Math.random()));
} else if (state.board && !/TAKEN_OVER|COOKIES|LOGIN|LEFT/.test(me.ending)) {
    if (me.status === 'WAITING') {
        plan('board', 500 + Math.random() * 1000);
    } else if (me.proving) {
        plan('prove', 0);
    } else {
        follow('ask');
    }
}
render();
}());
