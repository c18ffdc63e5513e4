/*
 * The figures on the page: drawn from the known data, in the same elements from second to second.
 */
import { ACTS } from './acts.mjs';
import { $, fill, h, say } from './dom.mjs';
import { alerts, clock, count, inside, latency, milliseconds, movement, rate, span, waitOfNewcomer, whyStill } from './figures.mjs';

/** [word for its colour, text]. */
export function stateOf(one) {
    if (!one.stats)
        return ['UNKNOWN', 'unknown'];
    if (one.settings && one.settings.activation === 'hold')
        return ['HOLD', 'HOLD'];
    return [one.stats.state, one.stats.state.replace('_', ' ')];
}

/** The table of all queues. Rows stay the same elements, so that a click hits the row that was seen. */
export function renderQueues(overview, chosen, choose) {
    const rows = $('queues');
    const kept = new Map([...rows.children].map((row) => [row.dataset.queue, row]));
    overview.queues.forEach((one, i) => {
        let row = kept.get(one.queue);
        if (!row) {
            row = h('tr', { 'data-queue': one.queue }, h('th', { scope: 'row' }, h('button', { type: 'button', onclick: () => choose(one.queue) }, one.queue)),
                h('td', {}, h('span', { class: 'state' })), ...[1, 2, 3, 4, 5].map(() => h('td')));
        }
        kept.delete(one.queue);
        if (rows.children[i] !== row)
            rows.insertBefore(row, rows.children[i] || null);
        const [word, label] = stateOf(one);
        const { stats, settings } = one;
        row.setAttribute('aria-current', String(one.queue === chosen));
        row.children[1].firstChild.dataset.state = word;
        say(row.children[1].firstChild, label);
        const times = stats ? latency(stats) : null;
        [stats && count(stats.waiting), stats && rate(stats.admittedPerSecond), stats && rate(stats.consumedPerSecond),
            stats && `${count(inside(stats))}${settings ? ` / ${count(settings.maxActive)}` : ''}`, times ? milliseconds(times.p95) : null]
            .forEach((text, at) => say(row.children[2 + at], text || '–'));
    });
    kept.forEach((row) => row.remove());
}

/** [name of the figure, label, number, text beside it, its raw value, level, share for a meter]. */
function tiles(one, { overview, series, goods: known }) {
    const { stats, settings } = one;
    const service = overview.service;
    if (!stats)
        return [];
    const still = whyStill(one);
    const trend = movement(series);
    const times = latency(stats);
    const last = series[series.length - 1] || {};
    const promised = stats.promisedWaitSeconds ?? last.promisedWaitSeconds;
    const actual = stats.actualWaitSeconds ?? last.actualWaitSeconds;
    const goods = known || [];
    const left = goods.reduce((sum, good) => sum + good.left, 0);
    const total = goods.reduce((sum, good) => sum + good.total, 0);
    const taken = inside(stats);
    const most = settings ? settings.maxActive : null;
    const away = stats.expired + stats.withdrawn;
    const inForce = stats.ratePerSecondInForce;
    return [
        ['waiting', 'Waiting', count(stats.waiting), trend === null ? '' : trend === 0 ? 'stands still' : `${trend > 0 ? '+' : '−'}${count(Math.abs(trend))} a minute`, stats.waiting],
        ['wait', 'A newcomer waits', span(waitOfNewcomer(one)), still || 'at the current pace', null, still && still !== 'every place is taken' && stats.waiting > 0 ? 'warn' : null],
        ['admittedPerSecond', 'Admitted a second', rate(stats.admittedPerSecond), settings ? `of ${rate(inForce ?? settings.ratePerSecond)}${settings.autopilot && settings.autopilot.enabled ? ', by the autopilot' : ' allowed'}` : '', stats.admittedPerSecond],
        ['consumedPerSecond', 'Done a second', rate(stats.consumedPerSecond), `${count(stats.consumed)} total`, stats.consumedPerSecond],
        ['inside', 'Inside', count(taken), `${count(stats.ready)} their turn, ${count(stats.claimed)} ordering, ${count(stats.unpaid)} unpaid`, taken,
            null, most ? { value: taken, most, text: `${count(taken)} of ${count(most)} places` } : null],
        ['p95', 'Orders take (P95)', milliseconds(times ? times.p95 : null), times ? `P50 ${milliseconds(times.p50)}, P99 ${milliseconds(times.p99)}` : 'none lately', times ? times.p95 : null],
        ['left', 'Left to sell', known ? count(left) : '–', known ? (goods.length ? `of ${count(total)}, ${count(total - left)} sold` : 'nothing is sold here') : '', left,
            goods.length > 0 && left === 0 ? 'bad' : null],
        ['actual', 'Those admitted had waited', span(actual), promised === null || promised === undefined ? '' : `promised: ${span(promised)}`, actual],
        ['admitted', 'Admitted, total', count(stats.admitted), `${count(stats.entered)} entered`, stats.admitted],
        ['noShows', 'Did not use it', count(away), `${count(stats.withdrawn)} never came, ${count(stats.expired)} ran out; ${count(stats.left)} left`, away],
        ['paymentsStuck', 'Payments stuck', service ? count(service.paymentsStuck) : '–', 'of all queues', service ? service.paymentsStuck : null,
            service && service.paymentsStuck > 0 ? 'bad' : null],
    ];
}

/** The figures of one queue. `what`: overview, series, goods. */
export function renderTiles(one, what) {
    const place = $('tiles');
    const wanted = tiles(one, what);
    if (place.children.length !== wanted.length) {
        fill(place, wanted.map(([name, label]) => h('div', { 'data-figure': name }, h('dt', {}, label), h('dd', { class: 'number' }),
            h('dd', { class: 'beside' }))));
    }
    wanted.forEach(([, , number, beside, value, level, meter], i) => {
        const tile = place.children[i];
        say(tile.children[1], number);
        say(tile.children[2], beside);
        tile.dataset.value = value ?? '';
        tile.dataset.level = level || '';
        if (meter) {
            const bar = tile.children[3] ? tile.children[3].firstChild : tile.appendChild(h('dd', {}, h('meter', { min: 0 }))).firstChild;
            bar.max = meter.most;
            bar.value = meter.value;
            bar.setAttribute('aria-label', meter.text);
        }
    });
}

export function renderGoods(known) {
    const goods = known || [];
    fill($('goods'), goods.length < 2 ? null : h('details', { open: $('goods').querySelector('details[open]') !== null },
        h('summary', {}, `${count(goods.length)} kinds of goods`),
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Goods' }, h('table', {},
            h('thead', {}, h('tr', {}, ['', 'Sold', 'Left', 'Of'].map((name) => h('th', { scope: 'col' }, name)))),
            h('tbody', {}, goods.map((good) => h('tr', {}, h('th', { scope: 'row' }, `${good.name} (${good.id})`),
                h('td', {}, count(good.sold)), h('td', {}, count(good.left)), h('td', {}, count(good.total)))))))));
}

/** The autopilot's moves; null: none. */
export function renderMoves(autopilot) {
    const moves = autopilot && autopilot.moves ? [...autopilot.moves].reverse().slice(0, 20) : [];
    fill($('moves'), !autopilot ? null : h('details', { open: $('moves').querySelector('details[open]') !== null },
        h('summary', {}, moves.length ? `The autopilot’s last move: ${rate(moves[0].from)} → ${rate(moves[0].to)} at ${clock(moves[0].at)}, ${moves[0].reason}` : 'The autopilot has not moved the rate yet'),
        h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Moves of the autopilot' }, h('table', { class: 'list' },
            h('thead', {}, h('tr', {}, ['When', 'From', 'To', 'P95', 'Why'].map((name) => h('th', { scope: 'col' }, name)))),
            h('tbody', {}, moves.map((move) => h('tr', {}, h('td', {}, clock(move.at)), h('td', {}, rate(move.from)), h('td', {}, rate(move.to)),
                h('td', {}, milliseconds(move.orderP95Ms)), h('td', {}, move.reason))))))));
}

/** Urgent messages. */
export function renderAlerts(overview, entry) {
    const found = alerts(overview, entry);
    if (!overview.postgres && overview.role === 'operator')
        found.push({ level: 'warn', text: 'Actions are not possible until PostgreSQL is back. In an emergency stop the schedulers: no one is admitted then.' });
    const place = $('alerts');
    const text = found.map((one) => one.level + one.text).join('\n');
    if (place.dataset.text !== text) {
        place.dataset.text = text;
        fill(place, found.map((one) => h('p', { class: 'alert', 'data-level': one.level }, one.text)));
    }
}

/** Buttons stay the same elements as long as the same are offered: a click must hit the button that was seen. */
export function renderActions(one, mayAct, askFirst) {
    const place = $('actions');
    const offered = mayAct ? ACTS.filter((act) => act.offered(one)) : [];
    const ids = `${one.queue} ${offered.map((act) => act.id).join(' ')}`;
    if (place.dataset.ids === ids)
        return;
    place.dataset.ids = ids;
    const button = (act) => h('button', { type: 'button', 'data-act': act.id, 'data-group': act.group, 'aria-haspopup': 'dialog', onclick: () => askFirst(act) },
        `${act.label}…`);
    const rest = offered.filter((act) => act.group !== 'main');
    fill(place, offered.filter((act) => act.group === 'main').map(button),
        rest.length ? h('details', {}, h('summary', {}, 'Drain, sold out, reset'), h('div', {}, rest.map(button))) : null);
}
