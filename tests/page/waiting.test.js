'use strict';
// What the whole waiting page does: its requests over time, and what it shows and says.
const assert = require('node:assert');
const test = require('node:test');

const {openPage, storage, START, HTML, EN} = require('./whole_page.js');

const RUN = {queueState: 'OPEN', epoch: 1, incarnation: 1, waiting: 5000};
const NEWCOMER = {...RUN, face: 'JOIN', status: 'NOT_ENTERED', rank: null, seq: null, retryAfterMs: 2000, pickupSeconds: 30,
    entryTtlSeconds: 300, keepSeconds: 86400, serverTime: new Date(START).toISOString()};
const place = (rank, more) => ({...NEWCOMER, face: 'WAITING', status: 'WAITING', rank, seq: rank + 100, retryAfterMs: 1000,
    estimatedWaitSeconds: 60 + rank, ...more});
const SOLD_OUT = {face: 'SOLD_OUT', queueState: 'SOLD_OUT'}, READY = {...place(0), face: 'READY', status: 'READY', rank: null};
/* Somebody with that place: the board says so, and a poll. */
const answers = (rank, board, position) => (request) => ({
    board: {status: 200, body: {...RUN, state: 'OPEN', headSeq: 100, lastSeq: 9000, departures: [], admittedPerSecond: 10,
        serverTime: new Date(START + request.at).toISOString(), ...board}},
    position: {status: 200, body: {...place(rank), ...position}},
    entries: {status: 201, body: {...place(rank), ...position}},
    result: {status: 200, body: {}}
}[request.kind]);

test('a page that was sent away asks no earlier than it was told', async () => {
    for (const [face, kind] of [['UNAVAILABLE', 'entries'], ['FULL', 'entries'], ['ORDER', 'entries']]) {
        const page = openPage({state: {...NEWCOMER, face, retryAfterMs: 8000}, answer: answers(50)});
        await page.pass(7900);
        assert.deepStrictEqual(page.requests, [], face);
        page.fire('online');
        await page.pass(0);
        assert.deepStrictEqual(page.asked(kind).length, face === 'ORDER' ? 1 : 0, face);
        await page.pass(8000);
        assert.strictEqual(page.asked(kind).length, 1, face);
    }
});

test('the page says how long a place, a turn and a visit last', () => {
    const page = openPage({state: NEWCOMER, answer: answers(50)}), shown = (id) => page.byId(id).textContent;
    assert.strictEqual(shown('keep'), 'If you close the page or lose the connection, your place is kept for 24 hours.');
    assert.strictEqual(shown('pickup'), 'When it is your turn, you may be away for 30 seconds. After that others go first, and you are ' +
        'next as soon as you are back.');
    assert.strictEqual(shown('turn'), 'Once inside, you can stay for 5 minutes after your last click.');
    assert.deepStrictEqual(['keep', 'pickup', 'turn'].filter((id) => page.byId(id).hidden), []);
});

test('a request that failed ends no later one', async () => {
    let fails = true;
    const page = openPage({state: place(15), answer: (request) => {
        const failed = fails && request.kind === 'position';
        fails = fails && !failed;
        return failed ? null : {...answers(15)(request), takesMs: 12000};
    }});
    await page.pass(60000);
    assert.ok(page.asked('position').length >= 3, String(page.asked('position').length));
    assert.deepStrictEqual(page.requests.filter((request) => request.aborted), []);
});

test('a page that comes back from the browser\'s cache asks at once', async () => {
    const page = openPage({state: place(4000), answer: answers(4000)});
    await page.pass(20000);
    const from = page.now();
    page.fire('pageshow', {persisted: true});
    await page.pass(0);
    assert.strictEqual(page.requests.filter((request) => request.at === from).length, 1);
});

test('a clock that is set back changes neither the polls nor the wait that is shown', async () => {
    const page = openPage({state: place(15), answer: answers(15)});
    await page.pass(10000);
    const from = page.now(), before = page.byId('wait').textContent;
    page.setClock(-600000);
    await page.pass(5000);
    assert.ok(page.asked('position', from).length >= 3, String(page.asked('position', from).length));
    assert.strictEqual(page.byId('wait').textContent, before);
});

test('the front hears of a reopening within half of the time that it may be away, and asks at once', async () => {
    const page = openPage({state: place(0, {...SOLD_OUT, pickupSeconds: 10}), answer: answers(0, {state: 'SOLD_OUT'}, SOLD_OUT)});
    await page.pass(62000);
    const from = page.now();
    page.answer = answers(0);
    await page.pass(5000);
    assert.strictEqual(page.byId('place').textContent, '1');
    assert.ok(page.asked('position', from).length >= 1);
});

test('the result is shown once it is known', async () => {
    const page = openPage({state: {...NEWCOMER, ...SOLD_OUT}, answer: answers(0, {state: 'SOLD_OUT'})});
    assert.strictEqual(page.byId('result').hidden, true);
    await page.pass(5000);
    assert.strictEqual(page.byId('result').hidden, false);
});

test('a place far behind is not asked for when it goes on', async () => {
    const page = openPage({state: place(4000, SOLD_OUT), answer: answers(4000, {state: 'SOLD_OUT'}, SOLD_OUT)});
    await page.pass(60000);
    page.answer = answers(4000);
    const from = page.now();
    await page.pass(60000);
    assert.strictEqual(page.byId('place').textContent, (4001).toLocaleString('en'));
    assert.deepStrictEqual(page.asked('position', from), []);
});

test('a board that no longer changes does not keep a place closed', async () => {
    const still = {state: 'SOLD_OUT', serverTime: new Date(START).toISOString()};
    const page = openPage({state: place(0, SOLD_OUT), answer: answers(0, still, SOLD_OUT)});
    await page.pass(60000);
    page.answer = answers(0, still, {status: 'READY', rank: null});
    await page.pass(60000);
    assert.strictEqual(page.reloads.length, 1);
});

test('an answer that cannot be handled is asked for again', async () => {
    const page = openPage({state: place(4000), answer: answers(4000, {departures: 7})});
    await page.pass(10000);
    assert.ok(page.asked('position').length > 0);
    const from = page.now();
    page.answer = answers(4000);
    await page.pass(60000);
    assert.ok(page.asked('board', from).length >= 1);
});

test('without network the page does not load itself again, and with it at once', async () => {
    for (const record of [null, {count: 1, at: START - 1000}]) {
        const kept = storage(false);
        kept.setItem('sluice.drop.reloads', JSON.stringify(record));
        const page = openPage({state: READY, answer: () => null, sessionStorage: kept});
        await page.pass(60000);
        assert.strictEqual(page.reloads.length, record ? 0 : 1, 'the page itself has just come by the network');
        assert.strictEqual(page.byId('connection').textContent, record ? EN.offline : EN.live);
        page.answer = answers(0);
        page.fire('online');
        await page.pass(0);
        assert.deepStrictEqual(page.reloads, [record ? 60000 : 0]);
    }
});

test('any answer of the network is enough to load the page again', async () => {
    const kept = storage(false);
    kept.setItem('sluice.drop.reloads', JSON.stringify({count: 1, at: START - 1000}));
    const page = openPage({state: READY, answer: () => ({status: 404}), sessionStorage: kept});
    await page.pass(3000);
    assert.deepStrictEqual(page.reloads, [2000]);
});

test('where storage has no room, the history entry keeps what must survive a reload', async () => {
    const history = {state: null}, reloads = [];
    for (let load = 0; load < 8; load++) {
        const page = openPage({state: READY, answer: answers(0), sessionStorage: storage(true), history});
        await page.pass(3000);
        reloads.push(page.reloads.length);
    }
    assert.deepStrictEqual(reloads, [1, 1, 1, 1, 1, 0, 0, 0]);
});

test('a link that comes and goes is told of every half minute at most', async () => {
    const page = openPage({state: place(4000), answer: answers(4000)});
    for (let i = 0; i < 30; i++) {
        page.answer = i % 2 ? answers(4000) : () => null;
        page.fire(i % 2 ? 'online' : 'offline');
        await page.pass(4000);
    }
    assert.strictEqual(page.said[0], EN.offline);
    const told = page.said.filter((text) => text === EN.offline || text === EN.live);
    assert.ok(told.length >= 2 && told.length <= 5, String(told));
    page.answer = answers(4000);
    await page.pass(60000);
    assert.strictEqual(page.said.filter((text) => text === EN.offline || text === EN.live).pop(), EN.live);
});

test('a page of an earlier release, which lacks an element or a face, waits all the same', async () => {
    const ids = [...HTML.matchAll(/ id="([\w-]+)"/g)].map((found) => found[1]).filter((id) => !/^(state|texts)$/.test(id));
    for (const id of ids) {
        const page = openPage({state: place(0), answer: answers(0, {}, {status: 'READY', rank: null}), 
            html: HTML.replace(` id="${id}"`, '')});
        await page.pass(10000);
        assert.strictEqual(page.reloads.length, 1, id);
    }
    const page = openPage({state: NEWCOMER, answer: answers(0, {}, {status: 'READY', rank: null}),
        html: HTML.replace('face JOIN PROOF', 'face OTHER')});
    await page.pass(10000);
    assert.strictEqual(page.reloads.length, 1);
});

test('what the person wished without network is done once it is back, and no poll instead', async () => {
    for (const [name, method] of [['leave', 'DELETE'], ['code', 'POST']]) {
        const page = openPage({state: place(4000), answer: answers(4000)});
        await page.pass(5000);
        page.answer = () => null;
        page.byId('code').value = 'A CODE';
        page.submit(name);
        await page.pass(10);
        const from = page.now();
        page.answer = (request) => request.method === 'DELETE' ? {status: 204} : answers(4000)(request);
        page.fire('online');
        await page.pass(0);
        assert.deepStrictEqual(page.requests.filter((request) => request.at >= from).map((request) => request.method), [method], name);
        assert.strictEqual(page.asked('entries', from).length, 1, name);
    }
});
