'use strict';
// The waiting page's arithmetic: a place from the board, and what is shown of it.
const assert = require('node:assert');
const test = require('node:test');

const page = require('./waiting_page.js');

const BOARD = {headSeq: 4000, lastSeq: 9000, waiting: 5001, departures: [], epoch: 1, incarnation: 1};
const boardWith = (changes) => Object.assign({}, BOARD, changes);

test('the head of the line has the first place', () => {
    assert.strictEqual(page.placeFromBoard(BOARD, 4000), 1);
    assert.strictEqual(page.placeFromBoard(BOARD, 4001), 2);
    assert.strictEqual(page.placeFromBoard(BOARD, 9000), 5001);
});

test('after a recovery the numbers that were skipped make the place smaller, besides the departures', () => {
    const departures = [{from: 4000, to: 1004999, count: 1000000}, {from: 4096, to: 5119, count: 20}];
    const board = boardWith({departures, lastSeq: 1006000});
    assert.strictEqual(page.placeFromBoard(board, 1005000), 1001001 - 1000020);
    assert.strictEqual(page.placeFromBoard(board, 6000), 2001 - 20);
});

test('only departures wholly between the head and oneself make the place smaller', () => {
    const departures = [
        {from: 3072, to: 4095, count: 7}, // holds the head
        {from: 4096, to: 5119, count: 20},
        {from: 5120, to: 6143, count: 5}, // holds oneself
        {from: 6144, to: 7167, count: 9} // behind
    ];
    assert.strictEqual(page.placeFromBoard(boardWith({departures}), 6000), 2001 - 20);
    assert.strictEqual(page.placeFromBoard(boardWith({departures}), 6143), 2144 - 20);
    assert.strictEqual(page.placeFromBoard(boardWith({departures}), 6144), 2145 - 25);
});

test('a board that is past the number, or has none, tells nothing', () => {
    assert.strictEqual(page.placeFromBoard(BOARD, 3999), null);
    assert.strictEqual(page.placeFromBoard(BOARD, null), null);
    assert.strictEqual(page.placeFromBoard({}, 10), null);
});

test('a place is within the people who wait, and never before the first', () => {
    assert.strictEqual(page.placeFromBoard(boardWith({waiting: 100}), 9000), 100);
    const departures = [{from: 4096, to: 5119, count: 1024}];
    assert.strictEqual(page.placeFromBoard(boardWith({headSeq: 4096, departures}), 5120), 1);
});

test('a shown place never grows while the number stays, and starts anew with another', () => {
    let way = page.followWay(null, '1.500', 400);
    assert.deepStrictEqual(way, {key: '1.500', first: 400, shown: 400});
    way = page.followWay(way, '1.500', 100);
    way = page.followWay(way, '1.500', 150);
    assert.deepStrictEqual(way, {key: '1.500', first: 400, shown: 100});
    assert.strictEqual(page.progressShare(way), 75);
    way = page.followWay(way, '2.3', 900);
    assert.deepStrictEqual(way, {key: '2.3', first: 900, shown: 900});
    assert.strictEqual(page.progressShare(way), 0);
    assert.strictEqual(page.progressShare(null), 0);
});

test('announced numbers are round, and change rarely', () => {
    const pairs = [[0, 0], [1, 1], [10, 10], [11, 20], [95, 100], [101, 200], [1000, 1000], [1001, 1100],
        [12345, 13000], [999999, 1000000]];
    pairs.forEach(([ahead, rounded]) => assert.strictEqual(page.roundedAhead(ahead), rounded));
});
