/*
 * The views beside the figures: one member, the checklist, the dry run, the audit, payments. Each is loaded when it is
 * opened, and says so if that fails.
 */
import { ask, sentenceOf } from './api.mjs';
import { h, fill } from './dom.mjs';
import { changes, clock, count, day } from './figures.mjs';

const AUDIT_PAGE = 50;

function trouble(error) {
    return h('p', { class: 'alert', 'data-level': 'bad', role: 'alert' }, sentenceOf(error));
}

/** Fills `place` with the result of `make`, or with why it failed. Results of earlier presses are discarded. */
async function filled(place, make) {
    const turn = (Number(place.dataset.turn) || 0) + 1;
    place.dataset.turn = String(turn);
    let content;
    try {
        content = await make();
    } catch (error) {
        content = [trouble(error)];
    }
    if (place.dataset.turn === String(turn))
        fill(place, content);
}

function facts(rows) {
    return h('dl', { class: 'facts' }, rows.filter(([, value]) => value !== null && value !== undefined && value !== '')
        .flatMap(([name, value]) => [h('dt', {}, name), h('dd', {}, String(value))]));
}

const STANDINGS = { WAITING: 'waits', READY: 'has their turn', CLAIMED: 'orders right now', AWAY: 'is away, number kept', NONE: 'is not in the queue' };

/* The actions on one member, as confirm.mjs takes them. */
function memberActs(place) {
    const path = (word) => ({ method: 'POST', path: (queue) => `/queues/${queue}/members/${encodeURIComponent(place.member)}/${word}` });
    const promote = {
        id: 'promote', label: 'Admit now', group: 'main', yes: 'Admit this one', request: path('promote'),
        title: () => `Let ${place.member} in ahead of the line?`,
        effects: ({ stats }) => [
            `1 person is admitted at once, within the places; ${stats ? count(stats.waiting) : 'all'} who wait see no change.`,
            'It is deducted from the rate, and recorded in the audit.',
        ],
    };
    const evict = {
        id: 'evict', label: 'Take out', group: 'danger', yes: 'Take this one out', request: path('evict'),
        title: () => `Take ${place.member} out of the queue?`,
        effects: () => [
            '1 person loses their place or their turn, on every host within a second. Orders that were placed stay.',
            'They can enter again, at the end. It is recorded in the audit.',
        ],
    };
    return ['READY', 'CLAIMED'].includes(place.standing) ? [evict] : place.standing === 'NONE' ? [promote] : [promote, evict];
}

/** One member. `context`: queue(), mayAct(), confirm(act, after). */
export function memberPanel(panel, context) {
    const input = h('input', { id: 'member', maxlength: 80, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', required: true });
    const found = h('div', { 'aria-live': 'polite' });
    const look = () => filled(found, async () => {
        const queue = context.queue();
        const place = await ask('GET', `/queues/${queue}/members/${encodeURIComponent(input.value.trim())}`);
        return [
            h('h2', {}, `${place.member} ${STANDINGS[place.standing] || place.standing}`),
            place.why ? h('p', { class: 'why', id: 'why' }, place.why) : null,
            facts([
                ['Place', place.rank === null ? null : `${count(place.rank + 1)}, with ${count(place.rank)} before`],
                ['Number', place.seq],
                ['Until', place.endsAt ? day(place.endsAt) : null],
                ['Has seen it', place.standing === 'READY' ? (place.hasSeenToken ? 'yes' : 'not yet') : null],
                ['Unpaid order', place.unpaidOrder],
                ['Looked at', clock(place.serverTime)],
            ]),
            context.mayAct() ? h('div', { class: 'actions' }, memberActs(place).map((act) =>
                h('button', { type: 'button', 'data-group': act.group, 'data-act': act.id, onclick: () => context.confirm(act, look) }, act.label))) : null,
        ];
    });
    const form = h('form', { onsubmit: (event) => { event.preventDefault(); look(); } },
        h('label', { for: 'member' }, 'Member’s or visitor’s id'),
        input, h('button', { type: 'submit', class: 'strong' }, 'Where are they, and why?'));
    fill(panel, h('div', { class: 'panel card' }, form, found));
}

const MARKS = { ok: '✓ ok', warn: '! look', fail: '✗ wrong' };
const WORST_FIRST = ['fail', 'warn', 'ok'];

export function checklistPanel(panel, context) {
    return filled(panel, async () => {
        const { items } = await ask('GET', `/checklist?queue=${context.queue()}`, undefined, { within: 10000 });
        const number = (state) => items.filter((item) => item.state === state).length;
        const sorted = [...items].sort((a, b) => WORST_FIRST.indexOf(a.state) - WORST_FIRST.indexOf(b.state));
        return [h('div', { class: 'panel card' },
            h('h2', { id: 'checklist-sum' }, number('fail') + number('warn') === 0 ? `All ${items.length} checks are OK.`
                : `${number('fail')} wrong, ${number('warn')} to look at, ${number('ok')} right.`),
            h('ul', { class: 'checks' }, sorted.map((item) => h('li', { 'data-state': item.state, 'data-name': item.name },
                h('span', { class: 'mark' }, MARKS[item.state]), h('span', {}, item.name), h('span', { class: 'detail' }, item.detail),
                item.do ? h('span', { class: 'do' }, item.do) : null))),
            h('p', { class: 'small' }, `Checked at ${clock(new Date())}. Certificates of other sites and the disks of Redis’s and PostgreSQL’s hosts cannot be checked from here.`),
            h('button', { type: 'button', onclick: () => checklistPanel(panel, context) }, 'Look again'))];
    });
}

const CLIENTS = [['page', 'a person opens a page'], ['fetch', 'a script in the page asks'], ['app', 'a program or an app'], ['form', 'a person sends a form'], ['prefetch', 'the browser loads ahead']];

/** What the gate would do. */
export function dryRunPanel(panel, context) {
    const text = (id, label, value = '') => [h('label', { for: id }, label),
        Object.assign(h('input', { id, autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', maxlength: 4000 }), { value })];
    const answer = h('div', { 'aria-live': 'polite' });
    const run = (event) => {
        event.preventDefault();
        const value = (id) => document.getElementById(id).value.trim();
        const optional = { address: value('dry-address'), userAgent: value('dry-agent'), cookie: value('dry-cookie'), member: value('dry-member') };
        const body = { queue: context.queue(), url: value('dry-url'), client: value('dry-client') };
        Object.entries(optional).filter(([, given]) => given !== '').forEach(([name, given]) => { body[name] = given; });
        filled(answer, async () => {
            const said = await ask('POST', '/gate/dry-run', body);
            return [
                h('p', { class: 'alert', id: 'dry-verdict', 'data-level': said.through ? 'good' : 'warn' }, said.through ? 'Would go through.' : 'Would wait.'),
                h('p', { class: 'why' }, said.why),
                facts([['Decided by', said.verdict], ['Known as', said.subject], ['Pass', said.pass], ['Path for the rules', said.path]]),
            ];
        });
    };
    fill(panel, h('form', { class: 'panel card', onsubmit: run },
        h('p', {}, 'Shows what the gate would do, without doing it: no one enters, no pass is renewed.'),
        h('div', { class: 'fields' },
            h('div', {}, text('dry-url', 'Address', '/')),
            h('div', {}, h('label', { for: 'dry-client' }, 'Who asks'), h('select', { id: 'dry-client' }, CLIENTS.map(([id, label]) => h('option', { value: id }, label)))),
            h('div', {}, text('dry-member', 'Member that the site names')),
            h('div', {}, text('dry-address', 'Client’s address')),
            h('div', {}, text('dry-agent', 'User agent')),
            h('div', {}, text('dry-cookie', 'Cookies, as the browser sends them'))),
        h('button', { type: 'submit', class: 'strong' }, 'What would the gate do?'), answer));
}

function auditRow(entry) {
    return h('tr', {}, h('td', {}, day(entry.at)), h('td', {}, entry.actor), h('td', {}, entry.action), h('td', {}, entry.target),
        h('td', {}, changes(entry.before, entry.after).join('; ')));
}

/** Who did what, when: for this queue, newest first. */
export function auditPanel(panel, context) {
    const body = h('tbody');
    const more = h('button', { type: 'button', hidden: true }, 'Older ones');
    const all = h('select', { id: 'audit-target', onchange: () => load(null) }, h('option', { value: 'queue' }, 'This queue'), h('option', { value: 'all' }, 'Everything'));
    const note = h('div');
    async function load(cursor) {
        const target = all.value === 'queue' ? `&target=queue/${context.queue()}` : '';
        try {
            const page = await ask('GET', `/audit?limit=${AUDIT_PAGE}${target}${cursor ? `&cursor=${cursor}` : ''}`);
            if (!cursor)
                fill(body);
            body.append(...page.entries.map(auditRow));
            fill(note, page.entries.length === 0 && !cursor ? h('p', {}, 'No changes yet.') : null);
            more.hidden = page.next === null;
            more.onclick = () => load(page.next);
        } catch (error) {
            fill(note, trouble(error));
        }
    }
    fill(panel, h('div', { class: 'panel card' }, h('label', { for: 'audit-target' }, 'Changes of'), all, note,
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Changes' }, h('table', { class: 'list' },
            h('thead', {}, h('tr', {}, ['When', 'Who', 'What', 'Of', 'Change'].map((name) => h('th', { scope: 'col' }, name)))), body)), more));
    return load(null);
}

export function paymentsPanel(panel, context) {
    const again = () => paymentsPanel(panel, context);
    return filled(panel, async () => {
        const { payments, next } = await ask('GET', '/payments?stuck=true&limit=100');
        const look = (id) => async (event) => {
            event.target.disabled = true;
            try {
                await ask('POST', `/payments/${id}/look`);
                event.target.textContent = 'Will be looked up';
            } catch (error) {
                event.target.after(trouble(error));
            }
        };
        return [h('div', { class: 'panel card' },
            h('h2', {}, payments.length === 0 ? 'No payment needs a person.' : `${count(payments.length)}${next ? ' or more' : ''} payments need a person, of all queues.`),
            payments.length === 0 ? null : h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Payments' }, h('table', { class: 'list' },
                h('thead', {}, h('tr', {}, ['Since', 'Order', 'State', 'Tried', 'Last error'].map((name) => h('th', { scope: 'col' }, name)))),
                h('tbody', {}, payments.map((one) => h('tr', {}, h('td', {}, day(one.updatedAt)), h('td', {}, one.order), h('td', {}, one.state),
                    h('td', {}, count(one.attempts)),
                    h('td', {}, one.lastError || '', context.mayAct() ? h('button', { type: 'button', class: 'quiet', onclick: look(one.id) }, 'Look it up now') : null)))))),
            h('button', { type: 'button', onclick: again }, 'Look again'))];
    });
}
