'use strict';
// What the coupon page decides, and that the widget it shows is the one that npm has.
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');
const vm = require('node:vm');

const {storage} = require('./whole_page.js');
const page = require('../../web/shop/assets/coupon-decisions.js');

const WAY = fs.readFileSync(path.join(__dirname, '../../web/shop/assets/coupon-way.js'), 'utf8');

const NOW = Date.parse('2030-01-01T12:00:00Z');
const at = (seconds) => new Date(NOW + seconds * 1000).toISOString();
const event = (changes) => Object.assign({state: 'OPEN', opensAt: null, endsAt: null}, changes);
const me = (changes) => Object.assign({event: event(), looked: true, status: 'WAITING', queueState: 'OPEN',
    retryAfterMs: 1234}, changes);
const face = (changes) => page.faceFor(me(changes), NOW);
const pause = (changes, random = 0) => page.pauseFor(me(changes), NOW, random);

test('a place that is shown never grows while the number stays', () => {
    let way = page.followWay(null, '1.7', 5);
    const shown = [4, 6, 3, 9].map((place) => (way = page.followWay(way, '1.7', place)).place);
    assert.deepStrictEqual(shown, [4, 4, 3, 3]);
    assert.strictEqual(page.followWay(way, '2.1', 9).place, 9, 'another number begins anew');
});

test('what the person is told follows from what is known', () => {
    assert.strictEqual(face({looked: false}), 'LOADING');
    assert.strictEqual(face({status: 'NOT_ENTERED'}), 'INVITE');
    assert.strictEqual(face({status: 'NOT_ENTERED', parted: 'LEFT'}), 'LEFT');
    assert.strictEqual(face({}), 'WAITING');
    assert.strictEqual(face({queueState: 'PAUSED'}), 'WAITING');
    assert.strictEqual(face({queueState: 'SOLD_OUT'}), 'SOLD_OUT');
    assert.strictEqual(face({queueState: 'CLOSED'}), 'CLOSED');
    assert.strictEqual(face({event: event({state: 'SOLD_OUT'})}), 'SOLD_OUT');
    assert.strictEqual(face({status: 'READY'}), 'TURN');
    assert.strictEqual(face({ending: 'TAKEN'}), 'TAKEN');
    assert.strictEqual(face({ending: 'TAKEN', coupon: {}}), 'COUPON');
    assert.strictEqual(face({coupon: {}, event: event({state: 'ENDED'})}), 'COUPON', 'a coupon outlives its event');
});

test('a token is tried although the queue is shut, and no longer than the event', () => {
    assert.strictEqual(face({status: 'READY', queueState: 'SOLD_OUT'}), 'TURN');
    assert.strictEqual(face({status: 'READY', queueState: 'CLOSED'}), 'TURN');
    assert.strictEqual(face({status: 'READY', event: event({endsAt: at(0)})}), 'ENDED');
    assert.strictEqual(face({status: 'READY', event: event({endsAt: at(1)})}), 'TURN');
});

test('there is a result once nothing more is to be had', () => {
    assert.strictEqual(page.isOver(me({}), NOW), false);
    assert.strictEqual(page.isOver(me({queueState: 'CLOSED'}), NOW), false);
    assert.strictEqual(page.isOver(me({queueState: 'SOLD_OUT'}), NOW), true, 'the queue knows before the event');
    assert.strictEqual(page.isOver(me({coupon: {}, event: event({endsAt: at(0)})}), NOW), true);
    assert.strictEqual(page.isOver({}, NOW), false);
});

test('nobody asks for a coupon before the opening, and everybody soon after', () => {
    const before = (seconds) => event({state: 'PRE_OPEN', opensAt: at(seconds)});
    assert.strictEqual(face({status: 'READY', event: before(5)}), 'EARLY');
    assert.strictEqual(face({status: 'READY', event: before(0)}), 'TURN');
    assert.strictEqual(pause({status: 'READY', event: before(60)}), 1234, 'the turn is not lost sight of');
    assert.strictEqual(pause({status: 'READY', event: before(1)}), 1000);
    assert.strictEqual(pause({status: 'READY', event: before(0.5)}, 0.5), 1000, 'not all in the same moment');
    assert.strictEqual(pause({status: 'NOT_ENTERED', event: before(2)}), 2000);
    assert.strictEqual(pause({status: 'READY', event: before(0)}), 0);
});

test('the line is asked as often as the server says, an end seldom, and a coupon never', () => {
    assert.strictEqual(pause({}), 1234);
    for (const over of [{queueState: 'SOLD_OUT'}, {queueState: 'CLOSED'}, {event: event({state: 'SOLD_OUT'})}]) {
        assert.ok(pause(over, 0) >= 20000 && pause(over, 1) <= 40000);
    }
    assert.strictEqual(pause({coupon: {}}), Infinity);
    assert.strictEqual(pause({event: event({state: 'ENDED'})}), Infinity);
    assert.strictEqual(pause({ending: 'TAKEN'}), Infinity);
});

test('failures are tried again ever more seldom', () => {
    assert.deepStrictEqual([1, 2, 3].map((failures) => page.backoff(failures, 1)), [1000, 2000, 4000]);
    assert.strictEqual(page.backoff(50, 1), 15000);
    assert.ok(page.backoff(1, 0) >= 500);
});

test('the clock is the least delayed one that was read', () => {
    assert.strictEqual(page.betterOffset(null, -300), -300);
    assert.strictEqual(page.betterOffset(-300, -900), -300);
    assert.strictEqual(page.betterOffset(-300, -100), -100);
    assert.strictEqual(page.betterOffset(-300, -60000), -60000, 'this machine was set');
});

test('waits and countdowns in words', () => {
    const words = (seconds) => page.waitWords(seconds);
    assert.deepStrictEqual(words(null), {name: 'couponWaitUnknown', number: 0});
    assert.strictEqual(words(60).name, 'couponWaitMinute');
    assert.deepStrictEqual(words(61), {name: 'couponWaitMinutes', number: 2});
    assert.deepStrictEqual(words(7000), {name: 'couponWaitHours', number: 2});
    assert.strictEqual(page.clockText(3600000), '1:00:00');
    assert.strictEqual(page.clockText(59001), '01:00');
    assert.strictEqual(page.clockText(-5), '00:00');
});

test('the widget in the tree is the one of npm', () => {
    const ours = path.join(__dirname, '../../web/shop/assets/altcha');
    const theirs = path.join(__dirname, '../node_modules/altcha');
    const files = {'LICENSE.txt': 'LICENSE.txt', 'altcha.css': 'dist/external/altcha.css',
        'altcha.min.js': 'dist/external/altcha.min.js', 'sha.js': 'dist/workers/sha.js'};
    assert.deepStrictEqual(fs.readdirSync(ours).sort(), Object.keys(files).sort());
    for (const name of Object.keys(files)) {
        assert.ok(fs.readFileSync(path.join(ours, name)).equals(fs.readFileSync(path.join(theirs, files[name]))), name);
    }
});

test('the page has a part for each face, and every sentence is used and there in each language', () => {
    const assets = path.join(__dirname, '../../web/shop/assets');
    const read = (name) => fs.readFileSync(path.join(assets, name), 'utf8');
    const html = read('../coupon.html') + read('../index.html');
    const scripts = ['captcha.js', 'coupon.js', 'coupon-way.js', 'coupon-decisions.js'].map(read).join('');
    const texts = JSON.parse(read('texts/en.json'));
    const named = new Set(scripts.match(/'(coupon|captcha)[A-Z]\w+'/g).map((name) => name.slice(1, -1)));
    for (const name of named) {
        assert.ok(name in texts, name);
    }
    for (const name of Object.keys(texts).filter((one) => /^(coupon|captcha)[A-Z]/.test(one))) {
        assert.ok(named.has(name) || html.includes(`="${name}"`) || name.startsWith('couponTitle'), name);
    }
    for (const name of ['LOADING', 'INVITE', 'WAITING', 'EARLY', 'TURN', 'COUPON', 'SOLD_OUT', 'ENDED', 'CLOSED',
        'MISSED', 'LEFT', 'TAKEN', 'STRANGER', 'UNKNOWN', 'FAILED']) {
        assert.strictEqual(html.split(`data-face="${name}"`).length, 2, name);
    }
    for (const call of scripts.match(/\b(at|put|putTime)\('[\w-]+'/g)) {
        assert.ok(html.includes(`id="${call.split("'")[1]}"`), call);
    }
});

/** The steps to a coupon. `answers`: what the API answers to each path, null for no network. `faces`: the parts of the page that were
 *  shown; `step()` lets the next pause pass. */
function openWay(answers) {
    class Lost extends Error {}
    const faces = [], pauses = [];
    const settled = () => new Promise(setImmediate);
    const shop = {
        decide: page, Lost, isBusy: (answer) => answer.status === 503, busyPause: () => 1,
        async call(method, url) {
            const answer = answers[url.split('/').slice(3).join('/')];
            if (!answer) {
                throw new Lost();
            }
            return answer;
        }
    };
    const setTimeout = (done, ms) => pauses.push({done, ms});
    vm.runInNewContext(WAY, {window: {shop}, sessionStorage: storage(false), setTimeout});
    shop.followCoupon('drop', null, (me) => faces.push(page.faceFor(me, Date.now())));
    return {
        faces,
        async step() {
            await settled();
            pauses.splice(0).forEach(({done}) => done());
            await settled();
        }
    };
}

const position = (status) => ({status: 200, body: {status, queueState: 'OPEN', rank: 3, epoch: 1, seq: 4, retryAfterMs: 1000}});

async function waitInLine() {
    const answers = {drop: {status: 200, body: {queue: 'line', ...event()}}, 'drop/coupons/mine': {status: 404, body: {}},
        line: {status: 200, body: {state: 'OPEN'}}, 'line/position': position('WAITING')};
    const way = openWay(answers);
    await way.step();
    assert.strictEqual(way.faces.pop(), 'WAITING');
    return {answers, way};
}

for (const [status, shown] of [[404, 'MISSED'], [401, 'STRANGER'], [403, 'FAILED'], [500, 'FAILED']]) {
    test(`a turn that has ended has brought nothing only where there is no coupon: ${status}`, async () => {
        const {answers, way} = await waitInLine();
        answers['line/position'] = position('NOT_ENTERED');
        answers['drop/coupons/mine'] = {status, body: {}};
        await way.step();
        assert.strictEqual(way.faces.pop(), shown);
    });
}

for (const [name, failure] of [['refused', {status: 503, code: 'ORDERS_UNAVAILABLE', body: {}}], ['lost', null]]) {
    test(`a turn that has ended is asked about until it is known what became of it, also if an answer is ${name}`, async () => {
        const {answers, way} = await waitInLine();
        answers['line/position'] = position('NOT_ENTERED');
        answers['drop/coupons/mine'] = failure;
        await way.step();
        await way.step();
        assert.strictEqual(way.faces.pop(), 'WAITING');
        answers['drop/coupons/mine'] = {status: 200, body: {code: 'CODE'}};
        await way.step();
        assert.strictEqual(way.faces.pop(), 'COUPON');
    });
}
