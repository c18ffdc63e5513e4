/*
 * A crowd of members who enter a queue, wait as the waiting page does, order once when it is their turn, and write down
 * every answer. What to ask and when is decided by the page's own script (the part that only decides); what
 * happens at a failure is as in its other part: Retry-After and more, backing off, an exact question after a missed board.
 *
 * Usage: node patient_pages.mjs PORT KEY-FILE QUEUE SKU MEMBERS SECONDS HIDDEN-PERCENT PICKUP-SECONDS JOURNAL
 *
 * Prints "entered" when all stand in line, and ends once all have ordered, or after SECONDS from then on. A line "again" on
 * standard input: everybody who has ordered asks once with the ticket of that turn, and orders once with its token under
 * another key. JOURNAL gets a line an answer: ms, member, kind, status, word, number, incarnation, end of the token in ms,
 * order, how long it took; looks at the board are counted by the second ("boards", how many, how many failed).
 */
import crypto from 'node:crypto';
import fs from 'node:fs';
import http from 'node:http';
import {createInterface} from 'node:readline';
import {createRequire} from 'node:module';

const page = createRequire(import.meta.url)('../page/waiting_page.js');
const [port, keyFile, queue, sku, members, seconds, hiddenPercent, pickupSeconds, journalFile] = process.argv.slice(2);
const RECHECK_MS = 300000, STALLED_MS = 10000, BOARD_MS = 3000, CALL_MS = 15000, ENTER_AT_ONCE = 200, THINK_MS = [500, 2000];
const REFUSED = new Set(['TICKET_INVALID', 'QUEUE_RESET', 'SESSION_REVOKED', 'UNAUTHENTICATED', 'NOT_FOUND']);
const agent = new http.Agent({keepAlive: true, maxSockets: 512});
const journal = fs.createWriteStream(journalFile);
const key = fs.readFileSync(keyFile, 'utf8').trim();
const boards = new Map();
let endsAt = Infinity;

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, Math.max(0, Math.min(ms, endsAt - Date.now()))));
const between = ([from, to]) => from + (to - from) * Math.random();

function login(name) {
    const part = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${part({alg: 'HS256', typ: 'JWT'})}.${part({sub: name, exp: Math.floor(Date.now() / 1000) + 86400})}`;
    return `${signed}.${crypto.createHmac('sha256', key).update(signed).digest('base64url')}`;
}

function call(me, method, path, headers, body) {
    const text = body ? JSON.stringify(body) : '';
    return new Promise((resolve) => {
        const failed = () => resolve({status: 0, headers: {}, body: {}});
        const request = http.request({
            host: '127.0.0.1', port, method, path, agent, timeout: CALL_MS,
            headers: {Authorization: `Bearer ${me.login}`, 'Content-Length': text.length,
                ...(text ? {'Content-Type': 'application/json'} : {}), ...headers}
        }, (answer) => {
            let received = '';
            answer.setEncoding('utf8');
            answer.on('data', (piece) => {
                received += piece;
            });
            answer.on('error', failed);
            answer.on('end', () => {
                try {
                    resolve({status: answer.statusCode, headers: answer.headers, body: received ? JSON.parse(received) : {}});
                } catch (strange) {
                    resolve({status: answer.statusCode, headers: answer.headers, body: {code: 'NO_JSON'}});
                }
            });
        });
        request.on('timeout', () => request.destroy());
        request.on('error', failed);
        request.end(text);
    });
}

/* One request of `kind`, written down. */
async function ask(me, kind, method, path, headers, body) {
    const sent = Date.now();
    const answer = await call(me, method, path, headers, body);
    const {status, body: reply} = answer, now = Date.now();
    answer.ok = status >= 200 && status < 300 || status === 304;
    answer.retryMs = reply.retryAfterMs || (answer.headers['retry-after'] || 0) * 1000;
    me.notBefore = status === 429 || status === 503 ? now + page.stayAway(answer.retryMs, Math.random()) : 0;
    if (kind === 'board') {
        const second = Math.floor(now / 1000), count = boards.get(second) || [0, 0];
        boards.set(second, [count[0] + 1, count[1] + (answer.ok ? 0 : 1)]);
    } else {
        const order = kind === 'orders' ? (reply.orders || []).map((one) => one.id).join(' ') : /^order/.test(kind) ? reply.id : '';
        const ends = reply.entryTokenExpiresAt ? Date.parse(reply.entryTokenExpiresAt) : '';
        journal.write([now, me.name, kind, status, (answer.ok && reply.status) || reply.code || '', reply.seq ?? '',
            reply.incarnation ?? '', ends, answer.ok ? order ?? '' : '', now - sent].join(',') + '\n');
    }
    return answer;
}

/* What the page learns, as in its other part. */
function learnPosition(me, reply) {
    for (const name of ['status', 'queueState', 'seq', 'epoch', 'incarnation', 'retryAfterMs', 'exactOnly']) {
        me[name] = reply[name];
    }
    me.ticket = reply.queueTicket || me.ticket;
    me.token = reply.entryToken || me.token;
    me.waiting = reply.currentTotalWaitingCount;
    me.askedAt = Date.now();
    me.askEvery = RECHECK_MS * (0.8 + 0.4 * Math.random());
    me.place = reply.rank == null ? null : reply.rank + 1;
    learnWait(me, reply.estimatedWaitSeconds ? me.place / reply.estimatedWaitSeconds : -1);
}

function learnWait(me, rate) {
    const now = Date.now();
    me.eta = undefined;
    if (me.status === 'WAITING' && !page.standsStill(me) && me.place) {
        if (rate >= 0) {
            me.rate = me.rate ? page.approach(me.rate, rate, (now - me.rateAt) / 1000, 60) : rate;
            me.rateAt = now;
        }
        me.eta = me.rate > 0.0001 ? me.place / me.rate : undefined;
    }
}

/* Every page parses the same board: done once a version. */
let known = {etag: null, board: null};

function learnBoard(me, answer) {
    const now = Date.now();
    if (answer.status === 200) {
        me.etag = answer.headers.etag;
        known = known.etag === me.etag && me.etag ? known : {etag: me.etag, board: answer.body};
        me.board = known.board;
        me.boardMovedAt = now;
    }
    me.boardAt = now;
    me.boardFailed = false;
    me.boardStalled = now - me.boardMovedAt > STALLED_MS;
    if (me.boardStalled) {
        return;
    }
    me.queueState = me.board.state;
    me.activation = me.board.activation;
    me.waiting = me.board.waiting;
    if (me.board.epoch === me.epoch && me.board.incarnation === me.incarnation) {
        me.place = Math.min(me.place, page.placeFromBoard(me.board, me.seq) || me.place);
    }
    learnWait(me, me.board.admittedPerSecond);
}

/* What to ask next, and after how many ms, for somebody in line. */
function decide(me, kind) {
    const now = Date.now(), random = Math.random(), why = page.whyAsk(me, me.board, now), retryMs = me.retryAfterMs || 1000;
    if (kind === 'board' && why) {
        return ['ask', Math.max(page.spreadOf(why, me.waiting, random), me.askedAt + retryMs - now)];
    } else if (me.hidden) {
        return ['board', page.hiddenDelay(Number(pickupSeconds), random)];
    } else if (why === 'near' || why === 'exact') {
        return [now - me.boardAt < BOARD_MS ? 'ask' : 'board', retryMs];
    }
    return ['board', Math.max(page.boardDelay(me, random), kind === 'ask' ? retryMs : 0)];
}

function inTrouble(me, kind, retryMs) {
    me.failures++;
    return [kind, Math.max(retryMs, page.backoff(me.failures, Math.random()))];
}

async function pause(me, delay) {
    await sleep(Math.max(delay, me.notBefore - Date.now()));
}

const enterPath = `/v1/queues/${queue}/entries`, askPath = `/v1/queues/${queue}/position`, boardPath = `/_sluice/board/${queue}.json`;

async function enter(me) {
    for (;;) {
        const answer = await ask(me, 'enter', 'POST', enterPath, {});
        if (answer.ok) {
            learnPosition(me, answer.body);
            me.board = {epoch: me.epoch, incarnation: me.incarnation, headSeq: 0};
            return;
        }
        await pause(me, inTrouble(me, 'enter', answer.retryMs)[1]);
    }
}

/* Until it is this member's turn: true; false: there is no place any more, or no time. */
async function wait(me) {
    let [kind, delay] = decide(me, 'ask');
    for (;;) {
        await pause(me, delay);
        if (Date.now() >= endsAt) {
            return false;
        }
        const answer = kind === 'board' ?
            await ask(me, kind, 'GET', boardPath, me.etag ? {'If-None-Match': me.etag} : {}) :
            await ask(me, kind, 'GET', askPath, {'X-Queue-Ticket': me.ticket});
        if (answer.ok) {
            me.failures = 0;
            (kind === 'board' ? () => learnBoard(me, answer) : () => learnPosition(me, answer.body))();
            if (kind === 'ask' && me.status !== 'WAITING') {
                return me.status === 'READY';
            }
            [kind, delay] = decide(me, kind);
        } else if (kind === 'board') {
            me.boardFailed = true;
            me.boardAt = Date.now();
            [kind, delay] = decide(me, kind);
        } else if (REFUSED.has(answer.body.code)) {
            return false;
        } else {
            [kind, delay] = inTrouble(me, kind, answer.retryMs);
        }
    }
}

function order(me, kind, idempotencyKey) {
    return ask(me, kind, 'POST', '/v1/orders', {'X-Entry-Token': me.token, 'Idempotency-Key': idempotencyKey},
        {queue, items: [{sku, quantity: 1}]});
}

/* Whether there is an order: by its answer, or by the member's own list where the token is void. */
async function buy(me) {
    await sleep(between(THINK_MS));
    for (me.failures = 0; Date.now() < endsAt;) {
        let answer = await order(me, 'order', `first-of-${me.name}`);
        if (answer.ok) {
            return true;
        } else if (answer.body.code === 'ENTRY_TOKEN_INVALID') {
            answer = await ask(me, 'orders', 'GET', '/v1/orders', {});
            if (answer.ok) {
                return answer.body.orders.length > 0;
            }
        }
        await pause(me, inTrouble(me, 'order', answer.retryMs)[1]);
    }
    return false;
}

async function live(me) {
    // They came over some time; what they ask is spread from the first moment on.
    await sleep(Math.random() * page.boardDelay(me, 0));
    while (Date.now() < endsAt && !me.ordered) {
        if (await wait(me)) {
            me.ordered = await buy(me);
        } else {
            const answer = await ask(me, 'orders', 'GET', '/v1/orders', {});
            me.ordered = answer.ok && answer.body.orders.length > 0;
            return;
        }
    }
}

/* Tries to get more out of a turn that has ended. */
async function again(me) {
    for (const kind of ['again-ask', 'again-order']) {
        for (let i = 0; i < 20; i++) {
            const answer = kind === 'again-ask' ? await ask(me, kind, 'GET', askPath, {'X-Queue-Ticket': me.ticket}) :
                await order(me, kind, `second-of-${me.name}-${i}`);
            if (answer.status !== 503 && answer.status !== 0) {
                break;
            }
            await pause(me, 1000);
        }
    }
}

const all = Array.from({length: Number(members)}, (_, i) => ({
    name: `p${i}`, login: login(`p${i}`), hidden: Math.random() * 100 < Number(hiddenPercent), notBefore: 0, failures: 0, rateAt: 0,
    boardAt: 0, boardMovedAt: Date.now()
}));
for (let i = 0; i < all.length; i += ENTER_AT_ONCE) {
    await Promise.all(all.slice(i, i + ENTER_AT_ONCE).map(enter));
}
console.log('entered');
const asked = [];
createInterface({input: process.stdin}).on('line', (line) => {
    if (line === 'again') {
        asked.push(...all.filter((me) => me.ordered).map(again));
    }
});
endsAt = Date.now() + seconds * 1000;
await Promise.all(all.map(live));
await Promise.all(asked);
for (const [second, [count, failed]] of boards) {
    journal.write(`${second * 1000},,boards,${count},${failed},,,,,\n`);
}
await new Promise((resolve) => journal.end(resolve));
console.log(JSON.stringify({ordered: all.filter((me) => me.ordered).length}));
process.exit(0);
