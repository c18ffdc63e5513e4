'use strict';
// The seat map's arithmetic: where seats are drawn, where the arrow keys lead, what a seat is to whom; and its texts.
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');

const plans = require('../../web/shop/assets/seat-plan.js');

const FOLDER = path.join(__dirname, '../../web/shop');
const read = (name) => fs.readFileSync(path.join(FOLDER, name), 'utf8');
const rows = (section, count, length) => Array.from({ length: count * length }, (_, i) => ({
    id: `${section}-${Math.floor(i / length) + 1}-${i % length + 1}`, section, row: String(Math.floor(i / length) + 1),
    number: String(i % length + 1), status: 'AVAILABLE', mine: false }));

test('no two seats are drawn over each other, and each is found where it is drawn', () => {
    const seats = [...rows('A', 12, 30), ...rows('B', 11, 40), ...rows('', 1, 150)];
    const plan = plans.arrange(seats);
    seats.forEach((seat, index) => {
        const { x, y } = plan.places[index];
        assert.strictEqual(plans.seatAt(plan, x, y), index, seat.id);
        assert.ok(x > 0 && x < plan.width && y > 0 && y < plan.height);
    });
    assert.ok(Math.max(...plan.lines.map((line) => line.seats.length)) <= 60, 'long rows are wrapped');
    assert.strictEqual(plans.seatAt(plan, 0, 0), undefined);
});

test('the arrow keys stay in the plan and come back', () => {
    const seats = [...rows('A', 2, 4), ...rows('B', 2, 6)];
    const plan = plans.arrange(seats);
    const go = (id, ...keys) => seats[keys.reduce((index, key) => plans.move(plan, index, key),
        seats.findIndex((seat) => seat.id === id))].id;
    assert.strictEqual(go('A-1-1', 'ArrowLeft', 'ArrowUp'), 'A-1-1');
    assert.strictEqual(go('A-2-2', 'ArrowDown', 'ArrowUp'), 'A-2-2');
    assert.strictEqual(go('B-1-6', 'ArrowUp'), 'A-2-4');
    assert.strictEqual(go('B-2-3', 'PageUp'), 'A-1-2');
    assert.strictEqual(go('A-1-2', 'Control+End', 'ArrowRight', 'ArrowDown'), 'B-2-6');
    assert.strictEqual(plans.move(plan, 0, 'x'), undefined);
});

test('what a seat is to the one who looks', () => {
    const face = (seat, wished, held) => plans.faceOf({ id: 'a', status: 'AVAILABLE', mine: false, ...seat },
        new Set(wished), new Set(held));
    assert.strictEqual(face({}, [], []), 'AVAILABLE');
    assert.strictEqual(face({}, ['a'], []), 'CHOSEN');
    assert.strictEqual(face({ status: 'HELD', mine: true }, ['a'], ['a']), 'KEPT');
    assert.strictEqual(face({ status: 'HELD', mine: true }, [], ['a']), 'LEAVING');
    assert.strictEqual(face({ status: 'SOLD', mine: true }, [], []), 'ORDERED');
    assert.strictEqual(face({ status: 'HELD' }, ['a'], []), 'HELD');
    assert.deepStrictEqual(plans.lostOf([{ id: 'a', status: 'HELD', mine: false }, { id: 'b', status: 'AVAILABLE' }],
        new Set(['a', 'b']), new Set()).map(({ id }) => id), ['a']);
});

test('a plan is another one if anything but the states differs, whatever its version', () => {
    const map = (version, ...seats) => ({ version, seats: seats.map((seat) => ({ section: 'A', row: '1', number: '1',
        price: { amount: 100, currency: 'KRW' }, status: 'AVAILABLE', mine: false, ...seat })) });
    const same = (after) => plans.isSamePlan(map(2, { id: 'B-1' }, { id: 'B-2' }), after);
    assert.ok(same(map(2, { id: 'B-1', status: 'HELD', mine: true }, { id: 'B-2', status: 'SOLD' })));
    assert.ok(!plans.isSamePlan(null, map(2)));
    assert.ok(!same(map(3, { id: 'B-1' }, { id: 'B-2' })));
    assert.ok(!same(map(2, { id: 'B-1' })));
    assert.ok(!same(map(2, { id: 'C-1' }, { id: 'C-2' })));
    for (const other of [{ section: 'B' }, { row: '2' }, { number: '2' }, { price: { amount: 200, currency: 'KRW' } },
        { price: { amount: 100, currency: 'USD' } }])
        assert.ok(!same(map(2, { id: 'B-1' }, { id: 'B-2', ...other })), JSON.stringify(other));
});

test('the map is asked for often while it is seen, seldom else, and no sooner than told', () => {
    const pause = (more) => plans.pauseFor({ hidden: false, looksHidden: 0, failures: 0, retryAfter: 0, ...more }, 0);
    assert.strictEqual(pause({}), 1500);
    assert.ok(pause({ hidden: true }) >= 5000);
    assert.strictEqual(pause({ hidden: true, looksHidden: 99 }), 60000);
    assert.strictEqual(pause({ failures: 99 }), 15000);
    assert.strictEqual(pause({ retryAfter: 20, failures: 1 }), 20000);
});

test('every language of the shop has the same texts with the same parameters, and the pages\' texts are there', () => {
    const [en, ko] = ['en', 'ko'].map((language) => JSON.parse(read(`assets/texts/${language}.json`)));
    const parameters = (text) => (text.match(/\{\w+\}/g) || []).sort();
    assert.deepStrictEqual(Object.keys(ko), Object.keys(en));
    Object.keys(en).forEach((key) => assert.deepStrictEqual(parameters(ko[key]), parameters(en[key]), key));
    for (const page of ['concert.html', 'seats.html', 'index.html']) {
        for (const [, key] of read(page).matchAll(/data-(?:text|alt|label)="(\w+)"/g))
            assert.ok(en[key], `${page}: ${key}`);
    }
    for (const file of ['seats.js', 'seat-way.js', 'concert.js']) {
        for (const [, key] of read(`assets/${file}`).matchAll(/'((?:seats|concert)[A-Z]\w*)'/g))
            assert.ok(en[key], `${file}: ${key}`);
    }
});
