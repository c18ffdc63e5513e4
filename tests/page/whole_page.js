'use strict';
// The whole waiting page on a pretended document: page.html and the script as the gate sends it. The test answers the
// requests and lets time pass.
const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const {whole} = require('./waiting_script.js');

const FOLDER = path.join(__dirname, '../../web/waiting-room');
const HTML = fs.readFileSync(path.join(FOLDER, 'page.html'), 'utf8');
const EN = JSON.parse(fs.readFileSync(path.join(FOLDER, 'texts/en.json'), 'utf8'));
const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s+[\w-]+(?:=(?:"[^"]*"|[^\s>"]+))?)*)\s*>([^<]*)/g;
const ATTRIBUTE = /([\w-]+)(?:=(?:"([^"]*)"|([^\s>"]+)))?/g;
const VOID = ['meta', 'link', 'input'];
const START = Date.parse('2030-01-01T00:00:00Z');

class Element {
    constructor(tag, attributes, parent, text) {
        Object.assign(this, {tag, attributes, parent, textContent: text, value: '', listeners: {}, hidden: 'hidden' in attributes,
            className: attributes.class || '', lang: attributes.lang || ''});
        this.classList = {contains: (name) => this.className.split(' ').includes(name)};
    }
    setAttribute(name, value) {
        this.attributes[name] = value;
    }
    getAttribute(name) {
        return this.attributes[name];
    }
    addEventListener(name, listener) {
        this.listeners[name] = listener;
    }
    appendChild(child) {
        return child;
    }
    remove() {}
    focus() {}
    /** `one`: #id, .class, [attribute] or a tag's name. */
    matches(one) {
        const name = one.replace(/[#.[\]]/g, '');
        return one[0] === '#' ? this.attributes.id === name : one[0] === '.' ? this.classList.contains(name) :
            one[0] === '[' ? name in this.attributes : this.tag === name;
    }
    isBelow(one) {
        return this.parent !== null && (this.parent.matches(one) || this.parent.isBelow(one));
    }
}

function parse(html) {
    const elements = [];
    let parent = null;
    for (const [, close, tag, written, text] of html.matchAll(TAG)) {
        if (close) {
            parent = parent && parent.parent;
            continue;
        }
        const attributes = {};
        for (const [, name, quoted, bare] of written.matchAll(ATTRIBUTE)) {
            attributes[name] = quoted || bare || '';
        }
        const element = new Element(tag, attributes, parent, text.trim());
        elements.push(element);
        parent = VOID.includes(tag) ? parent : element;
    }
    return elements;
}

/** A storage as browsers have it; `full` keeps nothing. */
function storage(full) {
    const kept = new Map();
    return {
        getItem: (name) => kept.has(name) ? kept.get(name) : null,
        setItem(name, value) {
            if (full) {
                throw new Error('the quota is exceeded');
            }
            kept.set(name, String(value));
        },
        removeItem: (name) => kept.delete(name)
    };
}

/**
 * Opens the page. `state` is what the gate sends with it, `answer(request)` gives {status, body, takesMs} or null for no network;
 * `html`, `texts`, `sessionStorage` and `history` may be others than the usual ones. Times are in ms since the opening.
 */
function openPage({state, answer, html = HTML, texts = {en: EN}, sessionStorage = storage(false), history = {state: null}}) {
    const lang = Object.keys(texts)[0];
    const elements = parse(html.replace(/\{\{text\.(\w+)\}\}/g, (mark, key) => texts[lang][key] || '').replace(/\{\{\w+\}\}/g, ''));
    const find = (selector) => {
        const [last, ...above] = selector.split(' ').reverse();
        return elements.filter((element) => element.matches(last) && above.every((one) => element.isBelow(one)));
    };
    const page = {requests: [], reloads: [], said: [], answer, byId: (id) => find('#' + id)[0] || null};
    const listeners = {}, timers = new Map();
    let now = 0, wall = START, made = 0;
    const later = (run, ms, every) => {
        timers.set(++made, {at: now + Math.max(0, ms || 0), run, every});
        return made;
    };
    const sandbox = {
        sessionStorage, btoa, AbortController,
        location: {hostname: 'shop.example', protocol: 'https:', reload: () => page.reloads.push(now)},
        navigator: {cookieEnabled: true},
        history: Object.assign(history, {
            replaceState(value) {
                history.state = value;
            }
        }),
        document: {
            hidden: false, documentElement: new Element('html', {}, null, ''), body: find('body')[0],
            getElementById: page.byId, querySelector: (selector) => find(selector)[0] || null, querySelectorAll: find,
            createElement: (tag) => new Element(tag, {}, null, ''), addEventListener: (name, run) => {
                listeners[name] = run;
            }
        },
        addEventListener: (name, run) => {
            listeners[name] = run;
        },
        setTimeout: (run, ms, ...values) => later(() => run(...values), ms),
        clearTimeout: (id) => timers.delete(id),
        setInterval: (run, ms) => later(run, ms, ms),
        fetch(url, {method, signal}) {
            const request = {at: now, method, url, kind: url.endsWith('.json') ? 'board' : url.split('/').pop()};
            page.requests.push(request);
            const got = page.answer(request);
            if (got === null) {
                return Promise.reject(new TypeError('no network'));
            }
            const response = {
                ok: got.status < 300, status: got.status, text: () => Promise.resolve(JSON.stringify(got.body || {})),
                headers: {get: (name) => (got.headers || {})[name] || null}
            };
            return got.takesMs ? new Promise((resolve, reject) => {
                later(() => resolve(response), got.takesMs);
                signal.addEventListener('abort', () => {
                    request.aborted = true;
                    reject(new Error('aborted'));
                });
            }) : Promise.resolve(response);
        }
    };
    sandbox.window = sandbox;
    const live = page.byId('live');
    if (live) {
        Object.defineProperty(live, 'textContent', {get: () => page.said.slice(-1)[0], set: (text) => page.said.push(text)});
    }
    page.byId('state').textContent = JSON.stringify({lang, queue: 'drop', board: '/_sluice/board/drop.json',
        entries: '/q/entries', position: '/q/position', result: '/q/result', challenge: '/q/challenge', ...state});
    page.byId('texts').textContent = JSON.stringify(texts);

    /** The device's clock is set forward, or back. */
    page.setClock = (byMs) => {
        wall += byMs;
    };
    page.fire = (name, event = {}) => listeners[name](event);
    /** The person sends the form of this class. */
    page.submit = (name) => find('.' + name).find((one) => one.tag === 'form').listeners.submit({preventDefault() {}});
    /** The requests of this kind since `from`. */
    page.asked = (kind, from = 0) => page.requests.filter((request) => request.kind === kind && request.at >= from);
    /** Lets time pass. */
    page.pass = async (ms) => {
        const end = now + ms;
        for (;;) {
            // The promises of an answer follow each other.
            await new Promise(setImmediate);
            const [id, timer] = [...timers].sort(([, a], [, b]) => a.at - b.at)[0] || [0, {at: Infinity}];
            const step = Math.min(end, timer.at) - now;
            now += step;
            wall += step;
            if (timer.at > end) {
                return;
            }
            timers.delete(id);
            if (timer.every) {
                timers.set(id, {...timer, at: now + timer.every});
            }
            timer.run();
        }
    };
    page.now = () => now;
    vm.createContext(sandbox);
    sandbox.wallClock = () => wall;
    vm.runInContext('Date.now = wallClock; Math.random = () => 0.5;', sandbox);
    vm.runInContext(whole, sandbox);
    page.fire('pageshow', {persisted: false});
    return page;
}

module.exports = {openPage, storage, START, HTML, EN};
