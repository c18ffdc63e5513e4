// One Chromium for the tests. Reads commands as JSON lines from standard input, one answer each:
//   {"id": 1, "command": "page.goto", "seconds": 15, "args": {…}} gets {"id": 1, "result": …} or
//   {"id": 1, "error": "…"}
// Usage: node driver.mjs CHROMIUM FOLDER ANSWERS-FD. FOLDER is for profiles, and goes with the test run.
// The end of the input ends Chromium, too. tests/lib/browser.py is the other side.

import { mkdirSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { chromium } from 'playwright-core';

import { keepRecord } from './record.mjs';

const [executablePath, folder, answersFd] = process.argv.slice(2);
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const wcag = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

const launching = {
    executablePath,
    chromiumSandbox: process.getuid() !== 0,
    args: [
        '--disable-gpu',
        '--disable-quic',
        // Nothing but this machine is there for a page.
        '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
    ],
    // A back button that visitors have may show a page just as it was left.
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
};

const screens = {
    phone: { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
    small: { viewport: { width: 320, height: 568 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
    desktop: { viewport: { width: 1280, height: 800 } },
};

const contexts = new Map();
const pages = new Map();
let made = 0;
let browser;

/** A profile of its own in which Chromium itself refuses all cookies, and storage with them. */
async function contextWithoutCookies(options) {
    const profile = join(folder, `profile-${++made}`);
    mkdirSync(join(profile, 'Default'), { recursive: true });
    const refuse = 2;
    const preferences = { profile: { default_content_setting_values: { cookies: refuse } } };
    writeFileSync(join(profile, 'Default', 'Preferences'), JSON.stringify(preferences));
    return chromium.launchPersistentContext(profile, { ...launching, ...options });
}

/** The browser's own button: Playwright's waits for a request, and a page shown as it was left makes none. */
async function goBack(page) {
    const session = await page.context().newCDPSession(page);
    const history = await session.send('Page.getNavigationHistory');
    const target = history.entries[history.currentIndex - 1];
    if (!target)
        throw new Error('there is nothing to go back to');
    await session.send('Page.navigateToHistoryEntry', { entryId: target.id });
    for (;;) {
        const { entries, currentIndex } = await session.send('Page.getNavigationHistory');
        if (entries[currentIndex].id === target.id)
            break;
        await sleep(20);
    }
    await session.detach();
}

/** Two fingers around the middle of an element move apart, or together. */
async function pinch(page, selector, factor) {
    await page.locator(selector).evaluate((found) => found.scrollIntoView({ block: 'center', behavior: 'instant' }));
    const { x, y, width, height } = await page.locator(selector).boundingBox();
    const session = await page.context().newCDPSession(page);
    const fingers = (span) => [-1, 1].map((side, id) => ({ x: x + width / 2 + side * span / 2, y: y + height / 2, id }));
    const send = (type, touchPoints) => session.send('Input.dispatchTouchEvent', { type, touchPoints });
    const steps = 12;
    const [from, to] = factor > 1 ? [60, 60 * factor] : [60 / factor, 60];
    await send('touchStart', fingers(from));
    for (let step = 1; step <= steps; step++)
        await send('touchMove', fingers(from + (to - from) * step / steps));
    await send('touchEnd', []);
    await session.detach();
}

/** What the page pretends about itself; real tabs in the background do not exist without a screen. */
function pretendVisibility(state) {
    Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state });
    Object.defineProperty(document, 'hidden', { configurable: true, get: () => state === 'hidden' });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
}

function runAxe(tags) {
    // A rule of WCAG 2.2 that axe runs only when told.
    const options = {
        runOnly: { type: 'tag', values: tags }, rules: { 'target-size': { enabled: true } }, resultTypes: ['violations'],
    };
    return globalThis.axe.run(document, options).then((found) => found.violations.flatMap((violation) =>
        violation.nodes.map((node) => `${violation.id} (${violation.impact}): ${node.target.join(' ')}: `
            + `${violation.help}: ${node.html}`)));
}

const commands = {
    async 'context.open'({ screen, cookies, script, permissions, ...rest }) {
        const options = { ...(screens[screen] ?? { viewport: screen }), ...rest };
        const context = cookies ? await browser.newContext(options) : await contextWithoutCookies(options);
        const id = `c${++made}`;
        contexts.set(id, context);
        if (script)
            await context.addInitScript(script);
        if (permissions)
            await context.grantPermissions(permissions);
        return id;
    },
    async 'context.close'({ context }) {
        await contexts.get(context).close();
        contexts.delete(context);
    },
    async 'context.page'({ context }) {
        const page = await contexts.get(context).newPage();
        const id = `p${++made}`;
        pages.set(id, { page, record: keepRecord(page) });
        page.once('close', () => pages.delete(id));
        return id;
    },
    'context.cookies': ({ context }) => contexts.get(context).cookies(),
    'context.addCookies': ({ context, cookies }) => contexts.get(context).addCookies(cookies),
    'context.offline': ({ context, offline }) => contexts.get(context).setOffline(offline),

    async 'page.goto'({ page, url, referer }) {
        // Not until "load" at once: a page that goes on by itself before that is no failure.
        await page.goto(url, { waitUntil: 'commit', referer });
        await page.waitForLoadState('load');
    },
    'page.back': ({ page }) => goBack(page),
    async 'page.reload'({ page }) {
        await page.reload({ waitUntil: 'commit' });
        await page.waitForLoadState('load');
    },
    'page.url': ({ page }) => page.url(),
    'page.html': ({ page }) => page.content(),
    'page.evaluate': ({ page, source, argument }) =>
        page.evaluate(`(async (argument) => (${source}))(${JSON.stringify(argument)})`),
    'page.click': ({ page, selector }) => page.click(selector),
    'page.tap': ({ page, selector, position }) => page.tap(selector, { position: position ?? undefined }),
    'page.pinch': ({ page, selector, factor }) => pinch(page, selector, factor),
    'page.fill': ({ page, selector, value }) => page.fill(selector, value),
    'page.press': ({ page, keys }) => page.keyboard.press(keys),
    /** The network is slow, or fails: requests to such an address, so many of them. */
    'page.hinder': ({ page, pattern, times, delayMs, fail }) => page.route(pattern, async (route) => {
        await sleep(delayMs);
        await (fail ? route.abort() : route.continue()).catch(() => {});
    }, { times: times ?? undefined }),
    'page.visibility': ({ page, state }) => page.evaluate(pretendVisibility, state),
    'page.scheme': ({ page, scheme }) => page.emulateMedia({ colorScheme: scheme }),
    async 'page.axe'({ page }) {
        // A document looked at twice, in light and in dark say, has it already.
        if (!await page.evaluate("typeof axe === 'object'"))
            await page.evaluate(axeSource);
        return page.evaluate(runAxe, wcag);
    },
    async 'page.screenshot'({ page, path }) {
        await page.screenshot({ path, fullPage: true, animations: 'disabled' });
    },
    'page.record': ({ record }) => record,
    'page.close': ({ page }) => page.close(),
};

/** Carries a command out, and gives up when its time is over. */
async function carryOut({ command, seconds, args }) {
    if (!(command in commands))
        throw new Error(`no such command: ${command}`);
    if ('page' in args && !pages.has(args.page))
        throw new Error(`the page ${args.page} is closed`);
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${command} took more than ${seconds} s`)), seconds * 1000);
    });
    try {
        return await Promise.race([commands[command]({ ...args, ...pages.get(args.page) }), late]);
    } finally {
        clearTimeout(timer);
    }
}

function answer(value) {
    writeSync(Number(answersFd), `${JSON.stringify(value)}\n`);
}

async function serve() {
    browser = await chromium.launch(launching);
    browser.once('disconnected', () => {
        console.error('Chromium has ended');
        process.exit(1);
    });
    answer({ id: 0, result: browser.version() });
    for await (const line of createInterface({ input: process.stdin })) {
        const { id, ...request } = JSON.parse(line);
        try {
            answer({ id, result: (await carryOut(request)) ?? null });
        } catch (error) {
            answer({ id, error: String(error.message) });
        }
    }
    await Promise.allSettled([...contexts.values()].map((context) => context.close()));
    browser.removeAllListeners('disconnected');
    await browser.close();
}

await serve();
