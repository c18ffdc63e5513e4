'use strict';
// When the waiting page asks, whom, and how often.
const assert = require('node:assert');
const test = require('node:test');

const page = require('./waiting_page.js');

const NOW = 1000000;
const BOARD = {headSeq: 100, epoch: 1, incarnation: 1};
const me = (changes) => Object.assign({
    queueState: 'OPEN', status: 'WAITING', seq: 5000, epoch: 1, incarnation: 1, place: 4000, eta: 900,
    askedAt: NOW, askEvery: 300000
}, changes);
const why = (changes, board) => page.whyAsk(me(changes), Object.assign({}, BOARD, board), NOW);

test('far from the front the board is enough', () => {
    assert.strictEqual(why({}), null);
    assert.strictEqual(why({eta: undefined}), null);
});

test('near the front the place is asked for', () => {
    assert.strictEqual(why({place: 21}), 'near');
    assert.strictEqual(why({place: 22}), null);
    assert.strictEqual(why({eta: 5}), 'near');
    assert.strictEqual(why({place: null}), 'near');
});

test('what does not add up is asked about', () => {
    assert.strictEqual(why({}, {headSeq: 5001}), 'passed');
    assert.strictEqual(why({}, {headSeq: 5000}), null);
    assert.strictEqual(why({}, {epoch: 2}), 'changed');
    assert.strictEqual(why({}, {incarnation: 2}), 'changed');
    assert.strictEqual(why({boardStalled: true}), 'stalled');
    assert.strictEqual(why({boardFailed: true}), 'board');
    assert.strictEqual(page.whyAsk(me(), null, NOW), 'board');
    assert.strictEqual(why({askedAt: NOW - 300000}), 'recheck');
});

test('places that the board cannot tell are always asked for', () => {
    assert.strictEqual(why({exactOnly: true}), 'exact');
    assert.strictEqual(why({mode: 'lottery'}), 'exact');
    assert.strictEqual(why({seq: null}), 'exact');
});

test('while nobody is admitted, being near is no reason', () => {
    for (const still of [{queueState: 'PAUSED'}, {queueState: 'PRE_OPEN'}, {activation: 'hold'}]) {
        assert.strictEqual(why(Object.assign({place: 1}, still)), null);
        assert.strictEqual(why(Object.assign({mode: 'lottery'}, still)), null);
    }
    assert.strictEqual(why({queueState: 'PAUSED', place: 1}, {headSeq: 5001}), 'passed');
});

test('whoever is sent away comes back no earlier, and not with all others', () => {
    assert.strictEqual(page.stayAway(2000, 0), 2000);
    assert.strictEqual(page.stayAway(2000, 1), 2500);
});

test('a crowd does not ask at once', () => {
    assert.strictEqual(page.spreadOf('changed', 10, 1), 5000);
    assert.strictEqual(page.spreadOf('stalled', 10, 0.5), 2500);
    assert.strictEqual(page.spreadOf('near', 10, 1), 0);
    assert.strictEqual(page.spreadOf('recheck', 10, 1), 0);
    assert.strictEqual(page.spreadOf('exact', 1000000, 1), 30000);
    assert.strictEqual(page.spreadOf('exact', null, 1), 0);
});

test('the board is read the oftener, the nearer the turn', () => {
    const seconds = (changes, random) => page.boardDelay(me(changes), random) / 1000;
    assert.deepStrictEqual([5, 50, 250, 1500, 9000].map((eta) => seconds({eta}, 0)), [1, 2, 5, 10, 30]);
    assert.strictEqual(seconds({eta: 9000}, 1), 37.5);
    assert.strictEqual(seconds({queueState: 'PAUSED'}, 0), 5);
    assert.strictEqual(seconds({eta: undefined, place: 50}, 0), 1);
    assert.strictEqual(seconds({eta: undefined, place: 100000}, 0), 30);
});

test('a hidden tab asks slowly, but within half of the time at the front', () => {
    for (const random of [0, 0.5, 0.999]) {
        const delay = page.hiddenDelay(90, random);
        assert.ok(delay >= 20000 && delay <= 30000);
        assert.ok(page.hiddenDelay(600, random) <= 30000, 'back before recoverySeconds, 38, have passed');
        assert.ok(page.hiddenDelay(20, random) <= 10000);
        assert.ok(page.hiddenDelay(null, random) <= 30000);
    }
});

test('failures are followed by longer and longer pauses, up to 30 s', () => {
    assert.ok(page.backoff(1, 0) >= 500 && page.backoff(1, 1) <= 1000);
    for (let failures = 1; failures < 50; failures++) {
        assert.ok(page.backoff(failures, 0) >= page.backoff(failures, 1) / 2);
        assert.ok(page.backoff(failures, 1) <= 30000);
    }
    assert.strictEqual(page.backoff(20, 1), 30000);
});

test('the page is loaded again three seconds apart and five times in a row at most', () => {
    assert.strictEqual(page.reloadWait(null, NOW), 0);
    assert.strictEqual(page.reloadWait({count: 1, at: NOW - 1000}, NOW), 2000);
    assert.strictEqual(page.reloadWait({count: 4, at: NOW - 5000}, NOW), 0);
    assert.strictEqual(page.reloadWait({count: 5, at: NOW - 5000}, NOW), -1);
    assert.strictEqual(page.reloadWait({count: 5, at: NOW - 61000}, NOW), 0);
});

test('the face follows from what is known', () => {
    const face = (changes) => page.faceFor(me(changes));
    assert.strictEqual(face({}), 'WAITING');
    assert.strictEqual(face({status: 'NOT_ENTERED'}), 'JOIN');
    assert.strictEqual(face({status: 'READY'}), 'READY');
    assert.strictEqual(face({status: 'READY', queueState: 'SOLD_OUT'}), 'READY');
    assert.strictEqual(face({status: 'READY', activation: 'hold'}), 'HOLD');
    assert.strictEqual(face({status: 'READY', unsafe: true}), 'UNSAFE');
    assert.strictEqual(face({activation: 'hold', queueState: 'PAUSED'}), 'HOLD');
    assert.strictEqual(face({queueState: 'DRAINING'}), 'WAITING');
    for (const queueState of ['PRE_OPEN', 'PAUSED', 'SOLD_OUT', 'CLOSED']) {
        assert.strictEqual(face({queueState}), queueState);
    }
    assert.strictEqual(face({ending: 'TAKEN_OVER', queueState: 'SOLD_OUT'}), 'TAKEN_OVER');
});

test('a proof of work is found, in pieces, and is the one that the server derives', () => {
    const crypto = require('node:crypto');
    const salt = '00ff80017f000000deadbeef12345678', nonce = 'ffffffff00000000a5a5a5a5c0ffee00', counter = 21234;
    const number = Buffer.alloc(4);
    number.writeUInt32BE(counter);
    const key = crypto.createHash('sha256').update(Buffer.from(salt + nonce, 'hex')).update(number).digest('hex');
    const challenge = {parameters: {salt, nonce, keyPrefix: key.slice(0, 32)}};
    let found = {counter: 0}, pieces = 0;
    for (; !found.solution; pieces++) {
        found = page.tryCounters(challenge, found.counter);
    }
    assert.deepStrictEqual(found.solution, {counter, derivedKey: key, time: 0});
    assert.ok(pieces > 1);
});
