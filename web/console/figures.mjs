/*
 * What the console derives from the API's numbers. Independent of any page, so that tests can load it alone.
 */

const SERIES_MAX = 900;
const RATE_SPAN_S = 5;
const BESIDE = ['version', 'updatedAt', 'createdAt', 'serverTime']; /* these differ after every change */

/** 1234567 → "1,234,567"; a dash if unknown. */
export function count(number) {
    return number === null || number === undefined || Number.isNaN(number) ? '–' : Math.round(number).toLocaleString('en-US');
}

/** A rate with its significant digits. */
export function rate(number) {
    if (number === null || number === undefined || Number.isNaN(number))
        return '–';
    return number >= 100 ? count(number) : String(Math.round(number * 10) / 10);
}

/** Seconds for people: "45 s", "12 min", "2 h 5 min", "3 d 4 h". */
export function span(seconds) {
    if (seconds === null || seconds === undefined || !Number.isFinite(seconds))
        return '–';
    const s = Math.max(0, Math.round(seconds));
    if (s < 90)
        return `${s} s`;
    const min = Math.round(s / 60);
    if (min < 90)
        return `${min} min`;
    const h = Math.floor(min / 60);
    if (h < 48)
        return min % 60 ? `${h} h ${min % 60} min` : `${h} h`;
    return h % 24 ? `${Math.floor(h / 24)} d ${h % 24} h` : `${Math.floor(h / 24)} d`;
}

export function milliseconds(ms) {
    if (ms === null || ms === undefined)
        return '–';
    return ms >= 10000 ? `${(ms / 1000).toFixed(0)} s` : ms >= 1000 ? `${(ms / 1000).toFixed(1)} s` : `${ms} ms`;
}

export function secondOf(sample) {
    return Math.floor(Date.parse(sample.at) / 1000);
}

/** Appends newer samples; `gap` if some between are missing. */
export function extend(series, samples) {
    const last = series.length ? secondOf(series[series.length - 1]) : 0;
    const fresh = samples.filter((sample) => secondOf(sample) > last);
    const gap = series.length > 0 && fresh.length > 0 && fresh.length === samples.length
        && secondOf(fresh[0]) > last + 1;
    return { series: series.concat(fresh).slice(-SERIES_MAX), gap };
}

/** The increase of a counter between two samples, per second; null if it was reset or is unknown. */
function slope(from, to, name) {
    const seconds = secondOf(to) - secondOf(from);
    const by = to[name] - from[name];
    return seconds > 0 && by >= 0 && from[name] !== null && to[name] !== null ? by / seconds : null;
}

/** The columns that charts are drawn from: times in s, and a list of numbers for each line. Live samples are one a second and
 *  smoothed over several; points of the history are rates already. */
export function columns(samples, live) {
    const back = live ? RATE_SPAN_S : 1;
    const per = (name) => samples.map((sample, i) => (i < 1 ? null : slope(samples[Math.max(0, i - back)], sample, name)));
    const plain = (name) => samples.map((sample) => (sample[name] ?? null));
    return {
        at: samples.map(secondOf),
        waiting: plain('waiting'),
        entered: per('entered'),
        admitted: per('admitted'),
        consumed: per('consumed'),
        rateInForce: plain('ratePerSecond'),
        ready: plain('ready'),
        claimed: plain('claimed'),
        p50: plain('orderP50Ms'),
        p95: plain('orderP95Ms'),
        p99: plain('orderP99Ms'),
        promised: plain('promisedWaitSeconds'),
        actual: plain('actualWaitSeconds'),
    };
}

/** The growth of the line, people a minute over the last half minute; null if unknown. */
export function movement(series) {
    const last = series[series.length - 1];
    const before = last && series.find((sample) => secondOf(sample) >= secondOf(last) - 30);
    const seconds = before ? secondOf(last) - secondOf(before) : 0;
    return seconds >= 5 ? Math.round((last.waiting - before.waiting) * 60 / seconds) : null;
}

/** The number of places taken. */
export function inside(stats) {
    return stats.ready + stats.claimed + stats.unpaid;
}

/** Whether people are being admitted; else why not. */
export function whyStill({ stats, settings }) {
    if (!stats)
        return 'Redis does not know the queue';
    if (settings && settings.activation === 'hold')
        return 'the gate is on hold';
    const words = { PRE_OPEN: 'not yet open', PAUSED: 'paused', SOLD_OUT: 'sold out', CLOSED: 'closed' };
    if (words[stats.state])
        return words[stats.state];
    if (stats.recoveringUntil)
        return 'recovering after Redis lost its memory';
    if (stats.frozen)
        return 'nothing can be bought: the order pool is silent';
    if (!stats.leader)
        return 'no scheduler leads';
    if (settings && settings.ratePerSecond === 0)
        return 'the rate is 0';
    if (settings && stats.waiting > 0 && inside(stats) >= settings.maxActive)
        return 'every place is taken';
    return null;
}

/* The states of operators that a public one hides: lua/include/queue_state.lua. */
const HIDDEN = { PRE_OPEN: ['PAUSED', 'DRAINING'], SOLD_OUT: ['PAUSED', 'DRAINING'], CLOSED: ['PAUSED', 'DRAINING', 'SOLD_OUT'] };

/** The state that operators have set and the public one hides; null if there is none. */
export function hiddenState({ stats, settings }) {
    const hidden = stats && settings && HIDDEN[stats.state] || [];
    return hidden.includes(settings && settings.operatorState) ? settings.operatorState : null;
}

/** What is said beside the state. `now` in ms. */
export function opening(entry, now) {
    const { stats, settings } = entry;
    const words = [];
    const hidden = hiddenState(entry);
    if (settings && settings.opensAt && Date.parse(settings.opensAt) > now)
        words.push(`opens in ${span((Date.parse(settings.opensAt) - now) / 1000)}, at ${moment(settings.opensAt, now)}`);
    if (hidden) {
        const state = hidden.toLowerCase().replace('_', ' ');
        words.push(stats.state === 'PRE_OPEN' ? `${state} from the opening on, until it is resumed` : `also set to ${state}`);
    }
    if (settings && settings.closesAt && Date.parse(settings.closesAt) > now)
        words.push(`closes at ${moment(settings.closesAt, now)}`);
    if (settings && settings.message)
        words.push(`everyone reads “${settings.message}”`);
    return words.join(' · ');
}

/** The estimated wait of a new arrival, in s; null if unknown. */
export function waitOfNewcomer(entry) {
    const { stats, settings } = entry;
    const still = whyStill(entry);
    if (!stats || (still && still !== 'every place is taken'))
        return null;
    const pace = stats.admittedPerSecond > 0 ? stats.admittedPerSecond
        : stats.ratePerSecondInForce ?? (settings ? settings.ratePerSecond : 0);
    return pace > 0 ? stats.waiting / pace : null;
}

/** P50, P95, P99 of orders: from the statistics, else from the last sample that has them. */
export function latency(stats) {
    if (stats.orderLatencyMs !== undefined)
        return stats.orderLatencyMs;
    const sample = stats.series && stats.series[stats.series.length - 1];
    return sample && sample.orderP95Ms !== null && sample.orderP95Ms !== undefined
        ? { p50: sample.orderP50Ms, p95: sample.orderP95Ms, p99: sample.orderP99Ms } : null;
}

/** Urgent messages: [{level: 'bad' | 'warn', text}], about the service and the selected queue. */
export function alerts(overview, entry) {
    const found = [];
    const bad = (text) => found.push({ level: 'bad', text });
    const warn = (text) => found.push({ level: 'warn', text });
    if (!overview.redis)
        bad('Redis does not answer: no one is admitted, and there are no figures.');
    if (!overview.postgres)
        bad('PostgreSQL does not answer: no one can order, and settings cannot be changed. Members keep waiting.');
    const service = overview.service;
    if (service) {
        if (service.paymentsStuck > 0)
            warn(`${count(service.paymentsStuck)} payments need a person.`);
        if (service.outboxOldestSeconds > 30)
            warn(`${count(service.outboxRows)} changes are not yet published to Redis, the oldest ${span(service.outboxOldestSeconds)} old: is sluice-reconcile running?`);
        if (service.reconciledSecondsAgo === null || service.reconciledSecondsAgo > 120)
            warn(service.reconciledSecondsAgo === null ? 'sluice-reconcile has never been here.'
                : `sluice-reconcile was last here ${span(service.reconciledSecondsAgo)} ago.`);
    }
    for (const { queue, stats, settings } of overview.redis ? overview.queues : []) {
        const name = entry && entry.queue === queue ? 'This queue' : queue;
        if (!stats)
            bad(`${name}: Redis does not know the queue; sluice-reconcile recovers it.`);
        else if (stats.frozen && !(settings && settings.activation === 'hold'))
            bad(`${name}: nothing can be bought, so nobody is admitted. Look at the order pool and at PostgreSQL.`);
        else if (!stats.leader && stats.state !== 'CLOSED')
            bad(`${name}: no scheduler leads, nobody is admitted.`);
        else if (stats.recoveringUntil)
            warn(`${name}: recovering after Redis lost its memory, until ${clock(stats.recoveringUntil)}.`);
    }
    if (entry && entry.settings && entry.settings.activation === 'hold')
        warn('The gate of this queue is on hold: no one is admitted, and those inside are held, too.');
    return found;
}

/** The local time of day. */
export function clock(moment) {
    return new Date(moment).toLocaleTimeString('en-GB');
}

export function day(moment) {
    return new Date(moment).toLocaleString('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
}

/** The local time of day, with the day if that is not within half a day of `now` (ms). */
export function moment(at, now) {
    return Math.abs(Date.parse(at) - now) > 12 * 3600 * 1000 ? day(at) : clock(at);
}

/** The differences of a change of settings: ["rate 20 → 40", …]. */
export function changes(before, after) {
    const plain = (value) => (value === null || value === undefined ? 'none'
        : typeof value === 'object' ? JSON.stringify(value) : String(value));
    const isObject = (value) => Boolean(value) && typeof value === 'object' && !Array.isArray(value);
    const [from, to] = [before || {}, after || {}];
    return [...new Set([...Object.keys(from), ...Object.keys(to)])]
        .filter((name) => !BESIDE.includes(name) && plain(from[name]) !== plain(to[name]))
        .flatMap((name) => {
            /* The settings of a queue are nested: only those that differ are shown. */
            if (isObject(to[name]) && (isObject(from[name]) || from[name] === undefined))
                return changes(from[name], to[name]);
            return [`${name} ${before ? `${plain(from[name])} → ` : ''}${plain(to[name])}`];
        });
}
