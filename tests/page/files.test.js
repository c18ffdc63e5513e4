'use strict';
// The page's files fit together: every text is there in every language, and the whole stays small.
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');

const page = require('./waiting_page.js');
const {names, whole: script} = require('./waiting_script.js');

const FOLDER = path.join(__dirname, '../../web/waiting-room');
const read = (name) => fs.readFileSync(path.join(FOLDER, name), 'utf8');
const html = read('page.html'), style = read('page.css');
const languages = {};
for (const file of fs.readdirSync(path.join(FOLDER, 'texts'))) {
    languages[path.basename(file, '.json')] = JSON.parse(read(path.join('texts', file)));
}
const FACES = ['JOIN', 'PROOF', 'WAITING', 'READY', 'PRE_OPEN', 'PAUSED', 'HOLD', 'SOLD_OUT', 'CLOSED', 'TAKEN_OVER',
    'COOKIES', 'LOGIN', 'FULL', 'ORDER', 'UNAVAILABLE', 'UNSAFE', 'NOT_CONFIGURED', 'LEFT'];

test('every language has the same texts with the same parameters', () => {
    const parameters = (text) => (text.match(/\{\w+\}/g) || []).sort();
    for (const lang of Object.keys(languages)) {
        assert.deepStrictEqual(Object.keys(languages[lang]).sort(), Object.keys(languages.en).sort());
        for (const key of Object.keys(languages.en)) {
            assert.deepStrictEqual(parameters(languages[lang][key]), parameters(languages.en[key]), key);
            assert.ok(!/[<>]/.test(languages[lang][key]), key);
        }
    }
});

test('every text is used, and every text that is used is there', () => {
    const written = html.match(/\{\{text\.\w+/g).map((mark) => mark.slice(7));
    const swapped = html.match(/data-t=\w+/g).map((mark) => mark.slice(7));
    for (const key of written.concat(swapped)) {
        assert.ok(key in languages.en, key);
    }
    for (const key of Object.keys(languages.en)) {
        assert.ok(written.indexOf(key) >= 0 || new RegExp('\\b' + key + '\\b').test(script), key);
    }
    for (const key of swapped) {
        assert.ok(written.indexOf(key) >= 0, key + ' is there without a script too');
    }
});

test('every face has one heading, and the script finds every element that it names', () => {
    for (const face of FACES) {
        const sections = html.split(new RegExp('<section class="face (?:\\w+ )*' + face + '(?: \\w+)*">'));
        assert.strictEqual(sections.length, 2, face);
        assert.strictEqual(sections[1].split('</section>')[0].match(/<h1/g).length, 1, face);
    }
    for (const call of script.match(/(byId|put|writeKey)\('[\w-]+'/g)) {
        assert.ok(html.indexOf('id="' + call.split("'")[1] + '"') > 0, call);
    }
});

test('nothing breaks out of where the template puts it', () => {
    assert.ok(!/<\/script|\{\{/.test(script));
    assert.ok(!/<\/style|\{\{/.test(style));
    assert.ok(!/ (style|on\w+)=/.test(html), 'the content security policy allows no inline style or handler');
    assert.ok(!/https?:|\/\/[a-z]/.test(html + style.replace(/\/\*[^]*?\*\//g, '')), 'nothing from elsewhere');
});

test('the parts of the script are all there once, are installed, and share no name', () => {
    const files = fs.readdirSync(path.join(FOLDER, 'script')).sort();
    const installed = fs.readFileSync(path.join(FOLDER, '../Makefile.inc'), 'utf8').match(/script\/\S+/g);
    assert.deepStrictEqual(names.concat('main').map((name) => name + '.js').sort(), files);
    assert.deepStrictEqual(installed.map((file) => path.basename(file)).sort(), files);
    const functions = script.match(/^function \w+/gm);
    assert.strictEqual(new Set(functions).size, functions.length, String(functions));
    assert.doesNotThrow(() => new Function(script));
});

test('parameters are filled in, and unknown ones are left', () => {
    assert.strictEqual(page.fill('{a} of {b} {c}', {a: 1, b: 'two'}), '1 of two {c}');
});

test('the page stays small as it is sent: without indentation and comments', () => {
    const sent = (text) => text.replace(/^ *\/\*[^]*?\*\/\n/gm, '').replace(/^ *(\/\/.*)?\n/gm, '')
        .replace(/^ +/gm, '');
    assert.ok(sent(script).indexOf('`') < 0, 'no text of the script runs over lines');
    for (const lang of Object.keys(languages)) {
        const whole = html.replace(/\{\{text\.(\w+)\}\}/g, (all, key) => languages[lang][key]) + sent(style) +
            sent(script) + read('logo.svg') + JSON.stringify(languages);
        assert.ok(Buffer.byteLength(whole) < 50 * 1024 - 700, lang + ': ' + Buffer.byteLength(whole));
    }
});
