/*
 * A crowd of waiting pages without browsers: each decides by the waiting page's own script (its parts that only
 * decide) what to ask and when. Enters them, lets them wait for a while, and prints what they asked
 * as JSON: {"entered", "board", "position", "unchanged", "failed", "ready"}.
 *
 * Usage: node waiting_pages.mjs URL QUEUE PAGES SECONDS
 * Prints a line "entered" when all are in line; counting begins there.
 */
import http from 'node:http';
import {createRequire} from 'node:module';

const page = createRequire(import.meta.url)('../page/waiting_page.js');
const [url, queue, pages, seconds] = process.argv.slice(2);
const {hostname, port} = new URL(url);
const agent = new http.Agent({keepAlive: true, maxSockets: 128});
const counts = {entered: 0, board: 0, unchanged: 0, position: 0, failed: 0, ready: 0};
const RECHECK_MS = 300000;

function ask(method, path, headers) {
    return new Promise((resolve) => {
        const request = http.request({hostname, port, method, path, agent, headers}, (answer) => {
            let text = '';
            answer.setEncoding('utf8');
            answer.on('data', (piece) => {
                text += piece;
            });
            answer.on('end', () => resolve({status: answer.statusCode, headers: answer.headers, text}));
        });
        request.on('error', () => resolve({status: 0, headers: {}, text: ''}));
        request.end();
    });
}

/* Every page parses the same board: done once a version. */
let known = {etag: null, board: null};

async function askBoard(me) {
    const answer = await ask('GET', `/_sluice/board/${queue}.json`, me.etag ? {'If-None-Match': me.etag} : {});
    counts.board++;
    if (answer.status === 304) {
        counts.unchanged++;
    } else if (answer.status === 200) {
        me.etag = answer.headers.etag;
        known = known.etag === me.etag ? known : {etag: me.etag, board: JSON.parse(answer.text)};
    } else {
        counts.failed++;
        return;
    }
    const board = known.board;
    me.queueState = board.state;
    me.board = board;
    me.way = page.followWay(me.way, me.seq, page.placeFromBoard(board, me.seq) || me.place);
    me.place = me.way.shown;
    me.rate = board.admittedPerSecond || me.rate;
    me.eta = me.place / me.rate;
}

async function askPosition(me) {
    const answer = await ask('GET', `/_sluice/queues/${queue}/position`, {'X-Queue-Ticket': me.ticket});
    counts.position++;
    if (answer.status !== 200) {
        counts.failed++;
        return 1000;
    }
    const position = JSON.parse(answer.text);
    me.askedAt = Date.now();
    me.isReady = position.status === 'READY';
    me.place = position.rank == null ? me.place : position.rank + 1;
    me.eta = me.place / me.rate;
    return position.retryAfterMs;
}

async function wait(me, until) {
    while (Date.now() < until && !me.isReady) {
        const why = page.whyAsk(me, me.board, Date.now());
        const pause = why ? await askPosition(me) : (await askBoard(me), page.boardDelay(me, Math.random()));
        await new Promise((resolve) => setTimeout(resolve, Math.min(pause, until - Date.now())));
    }
    counts.ready += me.isReady ? 1 : 0;
}

async function enter() {
    const answer = await ask('POST', `/v1/queues/${queue}/entries`, {});
    const position = JSON.parse(answer.text);
    counts.entered += answer.status === 201 ? 1 : 0;
    return {
        ticket: position.queueTicket, seq: position.seq, epoch: position.epoch, incarnation: position.incarnation,
        place: position.rank + 1, rate: (position.rank + 1) / (position.estimatedWaitSeconds || 1),
        eta: position.estimatedWaitSeconds, queueState: position.queueState, askedAt: Date.now(),
        askEvery: RECHECK_MS * (0.8 + 0.4 * Math.random()), board: {epoch: position.epoch,
            incarnation: position.incarnation, headSeq: 0}
    };
}

const all = [];
while (all.length < Number(pages)) {
    all.push(...await Promise.all(Array.from({length: Math.min(100, pages - all.length)}, enter)));
}
console.log('entered');
const until = Date.now() + seconds * 1000;
// They came over some time; what they ask is spread from the first moment on.
await Promise.all(all.map(async (me) => {
    await new Promise((resolve) => setTimeout(resolve, Math.random() * page.boardDelay(me, 0)));
    await wait(me, until);
}));
console.log(JSON.stringify(counts));
agent.destroy();
