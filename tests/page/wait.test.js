'use strict';
// The estimated wait: damped, in ranges, in words.
const assert = require('node:assert');
const test = require('node:test');

const page = require('./waiting_page.js');
const texts = {lessThanMinute: 'less', seconds: '{n} s', minutes: '{n} min', hours: '{n} h', days: '{n} d'};

test('a halved rate moves the wait up steadily, never in a leap', () => {
    let shown = page.damp(undefined, 600, 0);
    assert.strictEqual(shown, 600);
    for (let i = 0; i < 200; i++) {
        const before = shown;
        shown = page.damp(shown, 1200, 5);
        assert.ok(shown > before && shown < 1200);
        assert.ok(shown - before < 40);
    }
    assert.ok(shown > 1190);
});

test('a wait falls sooner than it rises', () => {
    assert.ok(600 - page.damp(600, 300, 10) > page.damp(600, 900, 10) - 600);
});

test('the rate takes a sample the more, the longer it is since the last', () => {
    assert.ok(page.approach(10, 20, 60, 60) > page.approach(10, 20, 1, 60));
    assert.strictEqual(page.approach(10, 20, 0, 60), 10);
});

test('a wait is told as a range that holds it', () => {
    assert.deepStrictEqual(page.waitRange(600), {key: 'minuteRange', low: 8, high: 12});
    assert.strictEqual(page.waitRange(20).key, 'lessThanMinute');
    assert.strictEqual(page.waitRange(200000).key, 'veryLong');
    for (let seconds = 51; seconds < 70000; seconds += 17) {
        const range = page.waitRange(seconds);
        const unit = range.key === 'minuteRange' ? 60 : 3600;
        assert.ok(range.low < range.high, String(seconds));
        assert.ok(range.high * unit >= seconds, String(seconds));
        assert.ok(range.low * unit <= seconds || range.low === 1, String(seconds));
    }
});

test('lengths of time are exact where the unit allows', () => {
    const words = (seconds) => page.durationText(seconds, texts);
    assert.strictEqual(words(90), '90 s');
    assert.strictEqual(words(150), '150 s');
    assert.strictEqual(words(300), '5 min');
    assert.strictEqual(words(86400), '24 h');
    assert.strictEqual(words(172800), '2 d');
    assert.strictEqual(words(1265), '21 min');
    assert.strictEqual(words(3), 'less');
});

test('the clock to the opening', () => {
    assert.strictEqual(page.clockText(0), '00:00');
    assert.strictEqual(page.clockText(-5), '00:00');
    assert.strictEqual(page.clockText(61000), '01:01');
    assert.strictEqual(page.clockText(3725000), '1:02:05');
    assert.strictEqual(page.clockText(90000001), '25:00:01');
});
