'use strict';
/*
 * The scripts for k6, which these machines do not have: each is linked with stand-ins for k6's modules, and every
 * function that its scenarios name is run against answers made up here.
 */
const assert = require('node:assert');
const {createHmac} = require('node:crypto');
const {readdirSync, readFileSync} = require('node:fs');
const {join} = require('node:path');
const test = require('node:test');
const {spawnSync} = require('node:child_process');

const FOLDER = join(__dirname, '..', 'k6');
const KEY = 'a key of more than thirty-two characters';

// Modules in a context of their own need a flag of node's.
if (!process.execArgv.includes('--experimental-vm-modules')) {
    test('the k6 scripts run', () => {
        const done = spawnSync(process.execPath, ['--experimental-vm-modules', '--no-warnings', '--test-reporter=spec', __filename],
            {encoding: 'utf8', env: {...process.env, NODE_TEST_CONTEXT: ''}, timeout: 60000});
        assert.strictEqual(done.status, 0, done.stdout + done.stderr);
    });
} else {
    const vm = require('node:vm');

    const answers = {
        entries: [201, {queueTicket: 't', entryToken: null, retryAfterMs: 1000}],
        position: [200, {entryToken: 'token', retryAfterMs: 1000}],
        seats: [200, {seats: [{id: 'A-1-1', status: 'AVAILABLE'}, {id: 'A-1-2', status: 'SOLD'}]}],
        holds: [201, {}], orders: [201, {}], coupons: [201, {}]
    };

    /** k6's modules, as far as the scripts use them. `sent` gets every request. */
    const modules = (sent) => {
        const answer = (method, url, body, params = {}) => {
            sent.push({method, url, body, params});
            const [status, json] = answers[url.split('/').pop()] || [200, {}];
            return {status, json: () => json, headers: {}};
        };
        const rawUrl = (text) => Buffer.from(text).toString('base64url');
        return {
            'k6/http': {default: {get: (url, params) => answer('GET', url, null, params),
                post: (url, body, params) => answer('POST', url, body, params), expectedStatuses: (...all) => all}},
            'k6/crypto': {default: {hmac: (kind, key, text, form) => {
                assert.deepStrictEqual([kind, form], ['sha256', 'base64rawurl']);
                return createHmac(kind, key).update(text).digest('base64url');
            }}},
            'k6/encoding': {default: {b64encode: (text, form) => form === 'rawurl' ? rawUrl(text) : assert.fail(form)}},
            'k6/execution': {default: {scenario: {name: 's', iterationInTest: 7}}},
            'k6': {sleep: (seconds) => assert.ok(seconds >= 0 && seconds < 3600),
                check: (value, checks) => Object.entries(checks).forEach(([what, holds]) => assert.ok(holds(value), what))}
        };
    };

    const load = async (name, sent) => {
        const context = vm.createContext({__ENV: {MEMBER_KEY: KEY}, Date, Math, JSON, Number, Object, String});
        const stands = modules(sent);
        const made = new Map();
        const link = (wanted) => {
            if (!made.has(wanted)) {
                const stand = stands[wanted];
                made.set(wanted, stand ? new vm.SyntheticModule(Object.keys(stand), function fill() {
                    Object.entries(stand).forEach(([key, value]) => this.setExport(key, value));
                }, {context}) : new vm.SourceTextModule(readFileSync(join(FOLDER, wanted), 'utf8'), {context}));
            }
            return made.get(wanted);
        };
        const module = link(name);
        await module.link(link);
        await module.evaluate();
        return module.namespace;
    };

    const scripts = readdirSync(FOLDER).filter((name) => name.endsWith('.js') && name !== 'common.js');

    for (const name of scripts) {
        test(`${name} has scenarios whose functions run, with members' logins that are signed right`, async () => {
            const sent = [];
            const script = await load(name, sent);
            const scenarios = Object.values(script.options.scenarios);
            assert.ok(scenarios.length > 0 && Object.keys(script.options.thresholds).length > 0);
            for (const scenario of scenarios) {
                script[scenario.exec]();
            }
            assert.ok(sent.length > 0);
            for (const {params} of sent.filter((one) => one.params.headers && one.params.headers.Authorization)) {
                const [head, body, signature] = params.headers.Authorization.replace('Bearer ', '').split('.');
                assert.strictEqual(signature, createHmac('sha256', KEY).update(`${head}.${body}`).digest('base64url'));
                assert.match(JSON.parse(Buffer.from(body, 'base64url')).sub, /^[A-Za-z0-9._-]{1,64}$/);
            }
        });
    }

    test('there is a script for each scenario', () => {
        assert.deepStrictEqual(scripts.sort(), ['burst.js', 'constant.js', 'inflow.js', 'isolation.js', 'normal.js', 'ticketing.js']);
    });
}
