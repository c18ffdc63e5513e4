/*
 * The console: one overview a second, one selected queue, and the actions on it. The key is kept in this tab
 * (sessionStorage) and sent in the header Authorization only.
 */
import { ask, key, Refusal, sentenceOf } from './api.mjs';
import { Charts } from './charts.mjs';
import { confirm, refresh as refreshConfirmation } from './confirm.mjs';
import { $, fill, h, say, show } from './dom.mjs';
import { clock, columns, count, extend, milliseconds, opening } from './figures.mjs';
import { auditPanel, checklistPanel, dryRunPanel, memberPanel, paymentsPanel } from './panels.mjs';
import { reportsTo } from './reports.mjs';
import { ofBrowser } from './store.mjs';
import { renderActions, renderAlerts, renderGoods, renderMoves, renderQueues, renderTiles, stateOf } from './view.mjs';

const TICK_MS = 1000;
const STALE_S = 3;
const SAMPLES = 10; /* of each overview: fills the gaps of a few missed ones */
const LIVE_SAMPLES = 900;
const GOODS_EVERY_MS = 5000;
const HISTORY_EVERY_MS = 30000;
const IN_FORCE_WITHIN_MS = 10000;
const RANGES = [['live', '15 min, live', 0, 0], ['1h', '1 h', 3600, 60], ['6h', '6 h', 6 * 3600, 60], ['24h', '24 h', 86400, 300], ['7d', '7 days', 7 * 86400, 1800]];
const TABS = [['now', 'Now'], ['member', 'One member'], ['checklist', 'Checklist'], ['dry-run', 'Dry run'], ['audit', 'Who did what'], ['payments', 'Payments']];
const SCHEMES = ['system', 'light', 'dark'];
const COLOURS = 'sluice-colours';

const state = {
    overview: null, heardAt: 0, trouble: '', queue: null, tab: 'now', range: 'live', series: [], wanted: 0, goods: null, goodsAt: 0,
    history: null, historyAt: 0, moves: null, ticking: 0,
};
const charts = new Charts($('charts'));

const entry = () => state.overview && state.overview.queues.find((one) => one.queue === state.queue);
const age = () => (performance.now() - state.heardAt) / 1000;
const mayAct = () => state.overview && state.overview.role === 'operator';
const context = { queue: () => state.queue, mayAct, confirm: (act, after) => askFirst(act, after) };

/* The connection */

function showLink() {
    const stale = !state.overview || age() > STALE_S;
    $('link').dataset.state = !state.overview ? 'off' : stale ? 'stale' : 'live';
    $('console').dataset.stale = String(Boolean(state.overview && stale));
    say($('link-text'), !state.overview ? state.trouble || 'not connected'
        : stale ? `OLD: ${Math.round(age())} s. ${state.trouble || 'No answer yet.'}` : `live · ${clock(state.overview.serverTime)}`);
    refreshConfirmation();
}

/** Back to the prompt for the key. */
function askForKey(why) {
    state.ticking++;
    state.overview = null;
    state.trouble = '';
    key.forget();
    show($('console'), false);
    show($('key-form'), true);
    show($('role'), false);
    show($('forget'), false);
    say($('key-why'), why);
    show($('key-why'), why !== '');
    $('key').value = '';
    $('key').focus();
    showLink();
}

function takeOverview(overview) {
    state.overview = overview;
    state.heardAt = performance.now();
    state.trouble = '';
    say($('role'), overview.role === 'operator' ? 'operator' : 'viewer: may look only');
    show($('role'), true);
    show($('forget'), true);
    show($('key-form'), false);
    show($('console'), true);
    if (!entry())
        choose(wishedQueue(), true);
    const it = entry();
    if (it && it.stats)
        takeSamples(it.stats.series);
    render();
}

function wishedQueue() {
    const wish = new URLSearchParams(location.hash.slice(1)).get('queue');
    const names = state.overview.queues.map((one) => one.queue);
    return names.includes(wish) ? wish : names[0] || null;
}

async function tick(turn) {
    const began = performance.now();
    try {
        const overview = await ask('GET', `/overview?samples=${SAMPLES}`);
        if (turn !== state.ticking)
            return;
        takeOverview(overview);
    } catch (error) {
        if (!(error instanceof Refusal))
            throw error;
        if (turn !== state.ticking)
            return;
        if (error.status === 401) {
            askForKey('This key is not accepted here. Nothing was changed.');
            return;
        }
        state.trouble = error.detail || error.message;
        showLink();
    } finally {
        if (turn === state.ticking)
            setTimeout(() => tick(turn), Math.max(100, TICK_MS - (performance.now() - began)));
    }
    lookBeside();
}

function start() {
    const turn = ++state.ticking;
    tick(turn);
}

/* The curves */

function takeSamples(samples) {
    const { series, gap } = extend(state.series, samples);
    state.series = series;
    if (gap || state.wanted === 0)
        loadSeries();
}

/** The last quarter of an hour, at first and if seconds are missing. */
async function loadSeries() {
    const queue = state.queue;
    state.wanted = performance.now();
    try {
        const { series } = await ask('GET', `/queues/${queue}/stats?samples=${LIVE_SAMPLES}`);
        if (queue === state.queue) {
            state.series = extend(series, state.series).series;
            render();
        }
    } catch (error) {
        sentenceOf(error);
        if (queue === state.queue)
            state.wanted = 0;
    }
}

async function loadHistory() {
    const queue = state.queue;
    const [id, , seconds, step] = RANGES.find(([name]) => name === state.range);
    state.historyAt = performance.now();
    const to = Date.parse(state.overview.serverTime);
    const time = (ms) => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
    try {
        const { points } = await ask('GET', `/queues/${queue}/history?from=${time(to - seconds * 1000)}&to=${time(to)}&step=${step}`);
        if (queue === state.queue && id === state.range)
            state.history = { points };
    } catch (error) {
        if (queue === state.queue && id === state.range)
            state.history = { points: [], trouble: sentenceOf(error) };
    }
    renderCharts();
}

/* What is requested less often */
function lookBeside() {
    if (!entry() || state.tab !== 'now' || document.hidden)
        return;
    const now = performance.now();
    if (now - state.goodsAt > GOODS_EVERY_MS && state.overview.postgres) {
        state.goodsAt = now;
        loadGoods();
    }
    if (state.range !== 'live' && now - state.historyAt > HISTORY_EVERY_MS)
        loadHistory();
}

async function loadGoods() {
    const queue = state.queue;
    const settings = entry().settings;
    const quietly = (promise) => promise.catch((error) => { sentenceOf(error); return null; });
    const goods = await quietly(ask('GET', `/queues/${queue}/goods`));
    const moves = settings && settings.autopilot ? await quietly(ask('GET', `/queues/${queue}/autopilot`)) : null;
    if (queue !== state.queue)
        return;
    state.goods = goods ? goods.goods : state.goods;
    state.moves = moves;
    renderGoods(state.goods);
    renderMoves(state.moves);
}

function renderCharts() {
    if (!state.queue || state.tab !== 'now')
        return;
    const live = state.range === 'live';
    const note = !live && state.history && (state.history.trouble || (state.history.points.length === 0
        ? 'There is no history of this time yet: sluice-reconcile records it once a minute.' : ''));
    say($('history-note'), note || '');
    show($('history-note'), Boolean(note));
    charts.draw(columns(live ? state.series : state.history ? state.history.points : [], live));
}

function render() {
    renderQueues(state.overview, state.queue, choose);
    renderAlerts(state.overview, entry());
    showLink();
    const one = entry();
    show($('queue'), Boolean(one));
    document.title = one && one.stats ? `${count(one.stats.waiting)} wait · ${one.queue} · Sluice` : 'Sluice console';
    if (!one)
        return;
    const [word, label] = stateOf(one);
    say($('queue-name'), one.queue);
    $('queue-state').dataset.state = word;
    say($('queue-state'), label);
    say($('queue-opening'), opening(one, Date.parse(state.overview.serverTime)));
    renderActions(one, mayAct(), (act) => askFirst(act));
    renderTiles(one, state);
    if (state.range === 'live')
        renderCharts();
}

/* Actions */

const reports = reportsTo((text, level) => {
    say($('done'), text);
    $('done').dataset.level = level;
    show($('done'), text !== '');
});

function askFirst(act, after) {
    reports.clear();
    confirm(act, {
        current: entry,
        age,
        done: (carried, queue, value, answer, ms) => {
            const tell = reports.about(queue, carried);
            tell(`done in ${milliseconds(Math.round(ms))}.`);
            if (after)
                after();
            if (carried.inForce)
                followUp((it) => carried.inForce(it, value, answer), queue, tell);
        },
    });
}

/** Reports when the change shows in the figures, and when it does not. */
async function followUp(isInForce, queue, tell) {
    const began = performance.now();
    while (performance.now() - began < IN_FORCE_WITHIN_MS) {
        const it = state.overview && state.overview.queues.find((one) => one.queue === queue);
        if (it && state.heardAt > began && isInForce(it)) {
            tell(`in force since ${clock(new Date())}.`);
            return;
        }
        await new Promise((done) => { setTimeout(done, 100); });
    }
    tell('taken, but it does not show in the figures yet: look before you go on.', 'bad');
}

/* The address */

function choose(queue, quietly) {
    if (queue === state.queue)
        return;
    Object.assign(state, { queue, series: [], wanted: 0, goods: null, goodsAt: 0, history: null, historyAt: 0, moves: null });
    fill($('goods'));
    fill($('moves'));
    reports.clear();
    if (queue)
        history.replaceState(null, '', `#queue=${queue}`);
    openTab(quietly ? state.tab : 'now');
    if (!quietly) {
        takeOverview(state.overview);
        lookBeside();
    }
}

const PANELS = { member: memberPanel, checklist: checklistPanel, 'dry-run': dryRunPanel, audit: auditPanel, payments: paymentsPanel };

function openTab(id) {
    state.tab = id;
    TABS.forEach(([name]) => {
        const tab = $(`tab-${name}`);
        tab.setAttribute('aria-selected', String(name === id));
        tab.tabIndex = name === id ? 0 : -1;
        show($(`panel-${name}`), name === id);
    });
    if (PANELS[id] && state.queue)
        PANELS[id]($(`panel-${id}`), context);
    if (id === 'now' && entry())
        renderCharts();
}

function openRange(id) {
    state.range = id;
    state.history = null;
    [...$('ranges').children].forEach((button) => button.setAttribute('aria-pressed', String(button.dataset.range === id)));
    if (id === 'live')
        renderCharts();
    else
        loadHistory();
}

/* Light and dark */

const darkness = matchMedia('(prefers-color-scheme: dark)');
let scheme = SCHEMES.includes(ofBrowser.get(COLOURS)) ? ofBrowser.get(COLOURS) : 'system';

function showScheme() {
    document.documentElement.dataset.scheme = scheme === 'system' ? (darkness.matches ? 'dark' : 'light') : scheme;
    say($('scheme'), `Colours: ${scheme}`);
    charts.renew();
}

/* Start */

fill($('tabs'), TABS.map(([id, label]) => h('button', {
    type: 'button', role: 'tab', id: `tab-${id}`, 'aria-controls': `panel-${id}`, onclick: () => openTab(id),
    onkeydown: (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (!step)
            return;
        const at = TABS.findIndex(([name]) => name === id);
        const next = TABS[(at + step + TABS.length) % TABS.length][0];
        openTab(next);
        $(`tab-${next}`).focus();
    },
}, label)));
fill($('ranges'), RANGES.map(([id, label]) => h('button', { type: 'button', 'data-range': id, 'aria-pressed': String(id === 'live'), onclick: () => openRange(id) }, label)));
openTab('now');
showScheme();
darkness.addEventListener('change', showScheme);
$('scheme').addEventListener('click', () => {
    scheme = SCHEMES[(SCHEMES.indexOf(scheme) + 1) % SCHEMES.length];
    ofBrowser.set(COLOURS, scheme);
    showScheme();
});
$('forget').addEventListener('click', () => askForKey(''));
$('key-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const given = $('key').value.trim();
    try {
        const overview = await ask('GET', `/overview?samples=${SAMPLES}`, undefined, { key: given });
        key.set(given);
        $('key').value = '';
        takeOverview(overview);
        start();
    } catch (error) {
        const sentence = sentenceOf(error);
        say($('key-why'), error.status === 401 ? 'This key is not accepted here. Nothing was changed.' : error.status === 0 ? error.detail || error.message : sentence);
        show($('key-why'), true);
    }
});
setInterval(showLink, 500);
if (key.get())
    start();
else
    askForKey('');
