'use strict';
// What the console makes of the API's numbers, and what its confirmations say.
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');

const FOLDER = path.join(__dirname, '../../web/console');
const figures = import(path.join(FOLDER, 'figures.mjs'));
const acts = import(path.join(FOLDER, 'acts.mjs'));

const at = (second) => new Date(second * 1000).toISOString();
const sample = (second, more = {}) => ({ at: at(second), waiting: 0, ready: 0, claimed: 0, entered: 0, admitted: 0, consumed: 0, ...more });
const STATS = { state: 'OPEN', waiting: 1200, ready: 60, claimed: 10, unpaid: 10, admittedPerSecond: 20, leader: 'x', frozen: false, recoveringUntil: null };
const SETTINGS = { ratePerSecond: 20, burst: 20, maxActive: 100, tickMs: 1000, activation: 'on', operatorState: 'OPEN', message: null, autopilot: null };
const entry = (stats = {}, settings = {}) => ({ queue: 'sale', stats: { ...STATS, ...stats }, settings: { ...SETTINGS, ...settings } });

test('numbers are said as people say them', async () => {
    const { count, rate, span, milliseconds } = await figures;
    assert.deepStrictEqual([count(1234567), count(null), rate(0.14), rate(123.4), rate(undefined)], ['1,234,567', '–', '0.1', '123', '–']);
    assert.deepStrictEqual([0, 89, 600, 7500, 200000, null, Infinity].map(span), ['0 s', '89 s', '10 min', '2 h 5 min', '2 d 7 h', '–', '–']);
    assert.deepStrictEqual([milliseconds(7), milliseconds(1234), milliseconds(30000), milliseconds(null)], ['7 ms', '1.2 s', '30 s', '–']);
});

test('a counter that was set back, or is not known, gives no rate', async () => {
    const { columns } = await figures;
    const drawn = columns([sample(60, { admitted: 100 }), sample(120, { admitted: 700 }), sample(180, { admitted: 5 }), sample(240, { admitted: null })], false);
    assert.deepStrictEqual(drawn.admitted, [null, 10, null, null]);
    assert.deepStrictEqual(drawn.p95, [null, null, null, null]);
});

test('samples are put together once each, and a gap is noticed', async () => {
    const { extend } = await figures;
    const series = [sample(1), sample(2)];
    assert.strictEqual(extend(series, [sample(2), sample(3)]).series.length, 3);
    assert.deepStrictEqual([[sample(2), sample(3)], [sample(3)], [sample(9)]].map((more) => extend(series, more).gap), [false, false, true]);
    assert.strictEqual(extend(Array.from({ length: 900 }, (_, i) => sample(i)), [sample(900)]).series.length, 900);
});

test('why nobody is admitted', async () => {
    const { whyStill, waitOfNewcomer } = await figures;
    assert.strictEqual(whyStill(entry()), null);
    assert.strictEqual(waitOfNewcomer(entry()), 60);
    const reasons = [[{}, { activation: 'hold' }, /hold/], [{ state: 'PAUSED' }, {}, /paused/], [{ frozen: true }, {}, /order pool/], [{ leader: null }, {}, /scheduler/],
        [{}, { ratePerSecond: 0 }, /rate is 0/], [{ recoveringUntil: at(9) }, {}, /recovering/]];
    for (const [stats, settings, why] of reasons) {
        assert.match(whyStill(entry(stats, settings)), why);
        assert.strictEqual(waitOfNewcomer(entry(stats, settings)), null);
    }
    assert.match(whyStill(entry({ ready: 80 })), /every place/);
    assert.strictEqual(waitOfNewcomer(entry({ ready: 80 })), 60);
});

test('what must be seen at once is seen, and only that', async () => {
    const { alerts } = await figures;
    const sound = { redis: true, postgres: true, service: { paymentsStuck: 0, outboxRows: 0, outboxOldestSeconds: null, reconciledSecondsAgo: 3 }, queues: [entry()] };
    const texts = (more) => alerts({ ...sound, ...more }, entry()).map((alert) => alert.text).join('\n');
    assert.strictEqual(texts({}), '');
    assert.match(texts({ redis: false }), /Redis does not answer/);
    assert.match(texts({ postgres: false, service: null }), /PostgreSQL does not answer/);
    assert.match(texts({ service: { ...sound.service, paymentsStuck: 2, reconciledSecondsAgo: 600 } }), /2 payments[^]*10 min ago/);
    assert.match(texts({ queues: [entry({ leader: null })] }), /no scheduler/);
    assert.strictEqual(alerts({ ...sound, queues: [entry({ frozen: true }, { activation: 'hold' })] }, null).length, 0, 'a hold is no trouble of the order pool');
});

test('a confirmation says what happens to how many', async () => {
    const { ACTS, figuresLine } = await acts;
    const act = (id) => ACTS.find((one) => one.id === id);
    assert.match(figuresLine(entry()), /1,200 people wait; 80 of 100 places are taken; 20 a second/);
    assert.match(act('rate').effects(entry(), 40).join(' '), /From 20 to 40.*1,200 who wait would be through in 30 s instead of 60 s/);
    assert.match(act('rate').effects(entry(), 50).join(' '), /twice as much/);
    assert.match(act('places').effects(entry(), 50).join(' '), /no one is admitted until 30 are done/);
    assert.match(act('reset').effects(entry()).join(' '), /1,200 who wait lose.*80 inside.*cannot be undone/);
    assert.match(act('release').effects(entry({}, { activation: 'hold' })).join(' '), /Sets.* on, whatever it was.*queue set sale activation=off \(or watch\)/);
    assert.deepStrictEqual(act('release').body(entry()), { activation: 'on' });
    assert.match(act('hold').effects(entry({}, { activation: 'watch' })).join(' '), /activation is watch now, and on after the release/);
    assert.doesNotMatch(act('hold').effects(entry()).join(' '), /activation/);
    for (const id of ['reset', 'sold-out'])
        assert.ok(act(id).typed, `${id} is not pressed by mistake`);
});

test('only what can be done is offered', async () => {
    const { ACTS } = await acts;
    const offered = (it) => ACTS.filter((act) => act.offered(it)).map((act) => act.id);
    assert.ok(offered(entry()).includes('pause') && !offered(entry()).includes('resume'));
    assert.ok(offered(entry({}, { operatorState: 'PAUSED' })).includes('resume') && !offered(entry({}, { operatorState: 'PAUSED' })).includes('pause'));
    assert.ok(offered(entry({}, { activation: 'hold' })).includes('release'));
    const flown = (enabled) => offered(entry({}, { autopilot: { enabled, floor: 5, ceiling: 50 } })).filter((id) => id.startsWith('autopilot'));
    assert.deepStrictEqual([flown(true), flown(false)], [['autopilot-off'], ['autopilot-on']]);
    assert.deepStrictEqual(offered({ queue: 'sale', stats: STATS, settings: null }), [], 'nothing without PostgreSQL');
});

test('an action is in force also where the public state hides it, and the page says so', async () => {
    const { ACTS } = await acts;
    const { opening } = await figures;
    const inForce = (id, state, operatorState) => ACTS.find((act) => act.id === id).inForce(entry({ state }, { operatorState }));
    const states = { pause: 'PAUSED', drain: 'DRAINING', 'sold-out': 'SOLD_OUT' };
    for (const [id, state] of Object.entries(states)) {
        assert.ok(inForce(id, state, state), id);
        assert.ok(inForce(id, 'CLOSED', state), id);
        assert.ok(!inForce(id, 'OPEN', state), `${id}: Redis does not have it yet`);
        assert.ok(!inForce(id, 'PRE_OPEN', 'OPEN'), id);
    }
    assert.ok(inForce('pause', 'PRE_OPEN', 'PAUSED') && inForce('drain', 'PRE_OPEN', 'DRAINING'));
    assert.ok(!inForce('sold-out', 'CLOSED', 'OPEN') && !inForce('sold-out', 'PRE_OPEN', 'SOLD_OUT'));
    const said = (state, operatorState, more) => opening(entry({ state }, { operatorState, ...more }), 0);
    assert.match(said('PRE_OPEN', 'PAUSED', { opensAt: at(60) }), /^opens in 60 s, at .* · paused from the opening on, until it is resumed$/);
    assert.match(said('PRE_OPEN', 'DRAINING'), /^draining from the opening on/);
    assert.deepStrictEqual([said('CLOSED', 'SOLD_OUT'), said('PAUSED', 'PAUSED'), said('OPEN', 'OPEN')], ['also set to sold out', '', '']);
    assert.strictEqual(opening({ queue: 'sale', stats: null, settings: null }, 0), '');
});

test('a report names its queue, stays beside others, and gives way to a newer action on the same', async () => {
    const { ACTS } = await acts;
    const { reportsTo } = await import(path.join(FOLDER, 'reports.mjs'));
    const act = (id) => ACTS.find((one) => one.id === id);
    let shown;
    const reports = reportsTo((...all) => { shown = all; });
    const pause = reports.about('sale', act('pause'));
    const places = reports.about('sale', act('places'));
    const other = reports.about('other', act('pause'));
    pause('taken.', 'bad');
    places('in force.');
    other('in force.');
    assert.deepStrictEqual(shown, ['sale, Pause: taken. sale, Places: in force. other, Pause: in force.', 'bad']);
    reports.clear();
    assert.deepStrictEqual(shown, ['', 'good']);
    const resume = reports.about('sale', act('resume'));
    pause('taken.', 'bad');
    assert.deepStrictEqual(shown, ['', 'good'], 'resumed since');
    other('taken.', 'bad');
    resume('in force.');
    assert.deepStrictEqual(shown, ['other, Pause: taken. sale, Resume: in force.', 'bad']);
});

test('a burst that somebody has set gives way to the rate, one that follows it is left alone', async () => {
    const { ACTS } = await acts;
    const rate = ACTS.find((one) => one.id === 'rate');
    assert.deepStrictEqual(rate.body(entry(), 40), { ratePerSecond: 40 });
    assert.deepStrictEqual(rate.body(entry({}, { burst: 30 }), 25), { ratePerSecond: 25 });
    assert.deepStrictEqual(rate.body(entry({}, { burst: 30 }), 40), { ratePerSecond: 40, burst: null });
});

test('wrong values are told before they are sent', async () => {
    const { ACTS, faultOf, valueOf } = await acts;
    const field = (id) => ACTS.find((one) => one.id === id).field;
    assert.deepStrictEqual(['', 'x', '-1', '1e9', '12.5'].map((text) => faultOf(field('rate'), text) === ''), [false, false, false, false, true]);
    assert.deepStrictEqual(['0', '1.5', '100'].map((text) => faultOf(field('places'), text) === ''), [false, false, true]);
    assert.notStrictEqual(faultOf(field('message'), '가'.repeat(170)), '', 'bytes count, not letters');
    assert.strictEqual(valueOf(field('message'), ' Soon '), 'Soon');
});

test('a change of the audit names what differs', async () => {
    const { changes } = await figures;
    assert.deepStrictEqual(changes({ version: 1, settings: { ratePerSecond: 20, burst: null } }, { version: 2, settings: { ratePerSecond: 25, burst: null } }), ['ratePerSecond 20 → 25']);
    assert.deepStrictEqual(changes(null, { member: 'kim' }), ['member kim']);
});

test('what the browser does not keep is remembered by the page', async () => {
    const { storeOf } = await import(path.join(FOLDER, 'store.mjs'));
    const refuses = () => { throw new Error('refused'); };
    const kept = new Map();
    const storages = {
        usual: () => ({ getItem: (name) => kept.get(name) ?? null, setItem: (name, text) => kept.set(name, text), removeItem: (name) => kept.delete(name) }),
        blocked: refuses,
        full: () => ({ getItem: () => null, setItem: refuses, removeItem() {} }),
    };
    for (const [name, find] of Object.entries(storages)) {
        const store = storeOf(find);
        assert.strictEqual(store.get('a'), null, name);
        store.set('a', 'one');
        store.set('a', 'two');
        assert.strictEqual(store.get('a'), 'two', name);
        store.forget('a');
        assert.strictEqual(store.get('a'), null, name);
    }
});

test('uPlot is npm’s, byte for byte', () => {
    const theirs = path.join(__dirname, '../node_modules/uplot');
    const files = { 'LICENSE.txt': 'LICENSE', 'uPlot.iife.min.js': 'dist/uPlot.iife.min.js', 'uPlot.min.css': 'dist/uPlot.min.css' };
    assert.deepStrictEqual(fs.readdirSync(path.join(FOLDER, 'uplot')).sort(), Object.keys(files).sort());
    for (const [ours, name] of Object.entries(files))
        assert.ok(fs.readFileSync(path.join(FOLDER, 'uplot', ours)).equals(fs.readFileSync(path.join(theirs, name))), ours);
});

test('every file of the console is installed, and nothing is written within the page', () => {
    const makefile = fs.readFileSync(path.join(FOLDER, 'Makefile.inc'), 'utf8');
    for (const file of fs.readdirSync(FOLDER).filter((name) => /\.(mjs|css|html|svg)$/.test(name)))
        assert.ok(makefile.includes(`%D%/${file}`), file);
    const html = fs.readFileSync(path.join(FOLDER, 'index.html'), 'utf8');
    assert.ok(!/<style|style=|<script(?![^>]*src)|\son\w+=|https?:/.test(html));
});
