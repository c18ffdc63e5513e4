/*
 * What an operator may do to a queue: when it is offered, what the confirmation says, what is sent, and how the figures
 * show that it is in force. Independent of any page.
 */
import { count, hiddenState, inside, rate, span, whyStill } from './figures.mjs';

const act = (word) => ({ method: 'POST', path: (queue) => `/queues/${queue}/actions/${word}` });
const patch = { method: 'PATCH', path: (queue) => `/queues/${queue}` };

const waiting = ({ stats }) => (stats ? count(stats.waiting) : 'An unknown number of');
const within = ({ stats }) => (stats ? count(inside(stats)) : 'An unknown number of');

/** "1 person waits", "12 people wait". */
function people(number, verb) {
    return number === 1 ? `1 person ${verb}s` : `${count(number)} people ${verb}`;
}

/** How long the line would last at `perSecond`. */
function lasts({ stats }, perSecond) {
    return stats && perSecond > 0 ? span(stats.waiting / perSecond) : null;
}

/** Whether a configured burst would be refused at that rate. One that is not configured follows the rate. */
function burstIsShort(settings, value) {
    const needed = (perSecond) => perSecond * settings.tickMs / 1000;
    const follows = Math.max(needed(settings.ratePerSecond), settings.ratePerSecond, 1);
    return settings.burst !== follows && settings.burst < needed(value);
}

/** Whether that state is in force. An action is answered once Redis has it, so the settings tell where the public state hides it. */
function hasState(entry, state) {
    return Boolean(entry.stats) && (entry.stats.state === state || hiddenState(entry) === state);
}

function rateEffects(entry, value) {
    const { settings } = entry;
    const before = lasts(entry, settings.ratePerSecond);
    const after = lasts(entry, value);
    const lines = [`From ${rate(settings.ratePerSecond)} to ${rate(value)} people a second.`];
    if (value === 0)
        lines.push(`No one is admitted any more; ${waiting(entry)} wait.`);
    else if (entry.stats && entry.stats.waiting > 0)
        lines.push(`The ${waiting(entry)} who wait would be through in ${after}${before ? ` instead of ${before}` : ''}, as far as places become free.`);
    if (settings.ratePerSecond > 0 && value > 2 * settings.ratePerSecond)
        lines.push('That is more than twice as much. Can the shop handle it?');
    if (burstIsShort(settings, value))
        lines.push(`The burst of ${count(settings.burst)} is too small for that and follows the rate from now on.`);
    if (settings.autopilot && settings.autopilot.enabled)
        lines.push('The autopilot is on and continues from that rate.');
    return lines;
}

function placesEffects(entry, value) {
    const lines = [`From ${count(entry.settings.maxActive)} to ${count(value)} places.`];
    const taken = entry.stats ? inside(entry.stats) : 0;
    if (value < taken)
        lines.push(`${count(taken)} are inside: no one is removed, and no one is admitted until ${count(taken - value)} are done.`);
    else if (entry.stats)
        lines.push(`${count(taken)} are taken, so ${count(value - taken)} would be free.`);
    return lines;
}

/** Each: id, label, group ('main' | 'more' | 'danger'), offered(entry), title(entry), effects(entry, value), yes (the button),
 *  request, body(entry, value), inForce(entry, value). `field`: an additional input; `about`: what it changes, where others change
 *  the same. */
export const ACTS = [
    {
        id: 'pause', about: 'state', label: 'Pause', group: 'main', yes: 'Pause now', request: act('pause'),
        offered: ({ stats, settings }) => settings && settings.operatorState === 'OPEN' && (!stats || !['SOLD_OUT', 'CLOSED'].includes(stats.state)),
        title: ({ queue }) => `Pause ${queue}?`,
        effects: (entry) => [
            `No one is admitted any more. ${waiting(entry)} keep their places in line and see that it is paused.`,
            `${within(entry)} who are inside stay and can order.`,
            'Those who come can still enter the line.',
        ],
        inForce: (entry) => hasState(entry, 'PAUSED'),
    },
    {
        id: 'resume', about: 'state', label: 'Resume', group: 'main', yes: 'Resume now', request: act('resume'),
        offered: ({ stats, settings }) => settings && (settings.operatorState !== 'OPEN' || (stats && stats.state === 'SOLD_OUT')),
        title: ({ queue }) => `Resume ${queue}?`,
        effects: (entry) => [
            `Ends ${{ PAUSED: 'the pause', DRAINING: 'draining', SOLD_OUT: 'sold out' }[entry.settings.operatorState] || 'sold out, if something is left'}.`,
            `${waiting(entry)} wait; ${rate(entry.settings.ratePerSecond)} of them a second are admitted from now on, unless it opens later.`,
        ],
        inForce: ({ settings, stats }) => settings && settings.operatorState === 'OPEN' && stats && !['PAUSED', 'DRAINING'].includes(stats.state),
    },
    {
        id: 'hold', about: 'gate', label: 'Hold everyone', group: 'main', yes: 'Hold everyone now', request: patch,
        offered: ({ settings }) => settings && settings.activation !== 'hold',
        title: ({ queue }) => `Hold everyone at the gate of ${queue}?`,
        effects: (entry) => [
            `No one passes the gate, and the ${within(entry)} inside see the waiting page at their next click. That is more than a pause.`,
            `${waiting(entry)} keep their places in line.`,
            'For when the shop itself is in trouble.',
            ...(entry.settings.activation === 'on' ? [] : [`The gate’s activation is ${entry.settings.activation} now, and on after the release: note it.`]),
        ],
        body: () => ({ activation: 'hold' }),
        inForce: ({ settings }) => settings && settings.activation === 'hold',
    },
    {
        id: 'release', about: 'gate', label: 'Release the hold', group: 'main', yes: 'Release now', request: patch,
        offered: ({ settings }) => settings && settings.activation === 'hold',
        title: ({ queue }) => `Release the hold of ${queue}?`,
        effects: (entry) => [
            'Sets the gate’s activation to on, whatever it was before the hold: those with a pass come in at their next click, all others wait.',
            `If it was off or watch, set that instead: sluicectl queue set ${entry.queue} activation=off (or watch).`,
            `${waiting(entry)} wait, and ${rate(entry.settings.ratePerSecond)} of them a second are admitted.`,
        ],
        body: () => ({ activation: 'on' }),
        inForce: ({ settings }) => settings && settings.activation === 'on',
    },
    {
        id: 'rate', label: 'Rate', group: 'main', yes: 'Set the rate', request: patch,
        offered: ({ settings }) => Boolean(settings),
        title: ({ queue }) => `Rate of ${queue}`,
        field: { name: 'rate', label: 'People admitted a second', kind: 'number', min: 0, max: 100000, step: 'any', value: ({ settings }) => settings.ratePerSecond },
        effects: rateEffects,
        body: ({ settings }, value) => ({ ratePerSecond: value, ...(burstIsShort(settings, value) ? { burst: null } : {}) }),
        inForce: ({ settings }, value) => settings && settings.ratePerSecond === value,
    },
    {
        id: 'places', label: 'Places', group: 'main', yes: 'Set the places', request: patch,
        offered: ({ settings }) => Boolean(settings),
        title: ({ queue }) => `Places of ${queue}`,
        field: { name: 'places', label: 'People inside at once', kind: 'number', min: 1, max: 10000000, step: 1, value: ({ settings }) => settings.maxActive },
        effects: placesEffects,
        body: (entry, value) => ({ maxActive: value }),
        inForce: ({ settings }, value) => settings && settings.maxActive === value,
    },
    {
        id: 'message', label: 'Message', group: 'main', yes: 'Show it to everyone', request: patch,
        offered: ({ settings }) => Boolean(settings),
        title: ({ queue }) => `Message to everyone who waits for ${queue}`,
        field: { name: 'message', label: 'Plain text, at most 500 bytes; empty removes it', kind: 'text', value: ({ settings }) => settings.message || '' },
        effects: (entry, value) => [
            value === '' ? `${waiting(entry)} who wait see no message any more.`
                : `${waiting(entry)} who wait read it with their next poll, and everyone who comes.`,
        ],
        body: (entry, value) => ({ message: value === '' ? null : value }),
        inForce: ({ settings }, value) => settings && (settings.message || '') === value,
    },
    {
        id: 'autopilot-off', about: 'autopilot', label: 'Autopilot off', group: 'main', yes: 'Switch it off', request: patch,
        offered: ({ settings }) => settings && settings.autopilot && settings.autopilot.enabled,
        title: ({ queue }) => `Switch the autopilot of ${queue} off?`,
        effects: (entry) => [
            `The rate is ${rate(entry.settings.ratePerSecond)} a second again, as it is set`
                + `${entry.stats && entry.stats.ratePerSecondInForce !== undefined ? `; now it is ${rate(entry.stats.ratePerSecondInForce)}` : ''}.`,
            'Nothing lowers it when orders become slow: keep watching.',
        ],
        body: (entry) => ({ autopilot: { ...entry.settings.autopilot, enabled: false } }),
        inForce: ({ settings }) => settings && (!settings.autopilot || !settings.autopilot.enabled),
    },
    {
        id: 'autopilot-on', about: 'autopilot', label: 'Autopilot on', group: 'main', yes: 'Switch it on', request: patch,
        offered: ({ settings }) => settings && settings.autopilot && !settings.autopilot.enabled,
        title: ({ queue }) => `Switch the autopilot of ${queue} on?`,
        effects: ({ settings }) => [
            `The rate adapts to the load of orders, from ${rate(settings.autopilot.floor)} to ${rate(settings.autopilot.ceiling)} people a second; it begins at ${rate(settings.ratePerSecond)}.`,
            'Each of its moves is shown here with its reason.',
        ],
        body: (entry) => ({ autopilot: { ...entry.settings.autopilot, enabled: true } }),
        inForce: ({ settings }) => Boolean(settings && settings.autopilot && settings.autopilot.enabled),
    },
    {
        id: 'drain', about: 'state', label: 'Drain', group: 'more', yes: 'Drain now', request: act('drain'),
        offered: ({ settings }) => settings && ['OPEN', 'PAUSED'].includes(settings.operatorState),
        title: ({ queue }) => `Drain ${queue}?`,
        effects: (entry) => [
            `No one new may enter the line. ${waiting(entry)} who wait are served.`,
            'Resume undoes it.',
        ],
        inForce: (entry) => hasState(entry, 'DRAINING') || Boolean(entry.stats) && ['SOLD_OUT', 'CLOSED'].includes(entry.stats.state),
    },
    {
        id: 'sold-out', about: 'state', label: 'Sold out', group: 'more', yes: 'Mark as sold out', request: act('sold-out'),
        offered: ({ settings }) => settings && settings.operatorState !== 'SOLD_OUT',
        title: ({ queue }) => `Tell everyone that ${queue} is sold out?`,
        effects: (entry) => [
            `${waiting(entry)} who wait read that it is over, and most will leave. Nobody is admitted any more.`,
            `${within(entry)} who are inside may still order what is left.`,
            'Only resume undoes it, and those who left do not come back.',
        ],
        typed: true,
        inForce: (entry) => hasState(entry, 'SOLD_OUT'),
    },
    {
        id: 'reset', label: 'Reset', group: 'danger', yes: 'Send everyone away', request: act('reset'),
        offered: ({ settings }) => Boolean(settings),
        title: ({ queue }) => `Reset ${queue}?`,
        effects: (entry) => [
            `${waiting(entry)} who wait lose their places for good, and ${within(entry)} inside lose their turn. All must start again.`,
            'Orders that were placed stay. A lottery’s draw is void.',
            'This cannot be undone. It is meant for after a rehearsal.',
        ],
        typed: true,
        inForce: (entry, value, answer) => Boolean(entry.settings && answer && entry.settings.epoch >= answer.epoch),
    },
];

/** "12,345 wait, 80 of 100 places are taken: nobody is admitted, paused." for the top of a confirmation. */
export function figuresLine(entry) {
    const { stats, settings } = entry;
    if (!stats)
        return 'There are no figures: Redis does not answer for this queue.';
    const still = whyStill(entry);
    return `${people(stats.waiting, 'wait')}; ${count(inside(stats))}${settings ? ` of ${count(settings.maxActive)}` : ''} places are taken; `
        + `${still ? `nobody is admitted: ${still}` : `${rate(stats.admittedPerSecond)} a second are admitted`}.`;
}

/** What is wrong with the value of a field, as a sentence; '' for nothing. */
export function faultOf(field, text) {
    if (!field)
        return '';
    if (field.kind === 'text')
        return new TextEncoder().encode(text).length > 500 ? 'That is longer than 500 bytes.' : '';
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value))
        return 'Enter a number.';
    if (value < field.min || value > field.max)
        return `From ${count(field.min)} to ${count(field.max)}.`;
    return field.step === 1 && !Number.isInteger(value) ? 'Enter a whole number.' : '';
}

export function valueOf(field, text) {
    return !field ? undefined : field.kind === 'text' ? text.trim() : Number(text);
}
