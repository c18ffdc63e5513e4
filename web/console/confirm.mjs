/*
 * The confirmation: what will happen to how many people, by the current figures.
 */
import { faultOf, figuresLine, valueOf } from './acts.mjs';
import { ask, Refusal, sentenceOf } from './api.mjs';
import { $, fill, h, say, show } from './dom.mjs';

/* An accidental second press comes within this time. */
const ARMED_AFTER_MS = 500;

let open = null;

function fieldOf(field, entry) {
    const attributes = { id: 'confirm-value', name: field.name, autocomplete: 'off' };
    const input = field.kind === 'text'
        ? h('textarea', { ...attributes, rows: 3, maxlength: 500 })
        : h('input', { ...attributes, type: 'number', inputmode: 'decimal', min: field.min, max: field.max, step: field.step });
    input.value = field.value(entry);
    input.addEventListener('input', refresh);
    return [h('label', { for: 'confirm-value' }, field.label), input];
}

function typedField(entry) {
    return [h('label', { for: 'confirm-typed' }, `Type ${entry.queue} to continue`),
        h('input', { id: 'confirm-typed', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false', oninput: refresh })];
}

function text() {
    return $('confirm-value') ? $('confirm-value').value : '';
}

/** The queue of the question, as it is now; null if another one, or none, has been selected meanwhile: its figures are not
 *  those of the question, and this answer must not apply to it. */
function asked() {
    const entry = open.current();
    return entry && entry.queue === open.queue ? entry : null;
}

/** Updates figures, effects and button. */
export function refresh() {
    if (!open)
        return;
    const entry = asked();
    const { act, age } = open;
    if (!entry) {
        say($('confirm-figures'), `${open.queue} is not among the queues any more, or is not answered for.`);
        fill($('confirm-effects'));
        $('confirm-yes').disabled = true;
        return;
    }
    const fault = faultOf(act.field, text());
    const seconds = age();
    say($('confirm-figures'), figuresLine(entry) + (seconds > 3 ? ` These figures are ${Math.round(seconds)} s old.` : ''));
    $('confirm-figures').dataset.stale = String(seconds > 3);
    const effects = fault ? [fault] : act.effects(entry, valueOf(act.field, text()));
    const list = $('confirm-effects');
    if ([...list.children].map((item) => item.textContent).join('\n') !== effects.join('\n'))
        fill(list, effects.map((line) => h('li', {}, line)));
    const typed = !act.typed || $('confirm-typed').value.trim() === entry.queue;
    $('confirm-yes').disabled = open.busy || !open.armed || fault !== '' || !typed;
}

function close() {
    open = null;
    $('confirm').close();
}

/** Asks whether to perform `act`. `current()` returns the queue as known now, `age()` how many seconds ago that was;
 *  `done(act, queue, value, answer, ms)` is called afterwards. */
export function confirm(act, { current, age, done }) {
    const entry = current();
    open = { act, queue: entry.queue, current, age, done, busy: false, armed: false };
    say($('confirm-title'), act.title(entry));
    say($('confirm-yes'), act.yes);
    $('confirm').dataset.group = act.group;
    show($('confirm-error'), false);
    fill($('confirm-fields'), act.field ? fieldOf(act.field, entry) : null, act.typed ? typedField(entry) : null);
    refresh();
    $('confirm').showModal();
    if (act.field)
        $('confirm-value').focus();
    const mine = open;
    setTimeout(() => {
        mine.armed = true;
        if (open === mine)
            refresh();
    }, ARMED_AFTER_MS);
}

async function carryOut() {
    const { act, done } = open;
    const entry = asked();
    if (!entry) {
        refresh();
        return;
    }
    const value = valueOf(act.field, text());
    const began = performance.now();
    open.busy = true;
    refresh();
    try {
        const answer = await ask(act.request.method, act.request.path(entry.queue, entry.member), act.body ? act.body(entry, value) : undefined,
            { within: 15000 });
        close();
        done(act, entry.queue, value, answer, performance.now() - began);
    } catch (error) {
        const sentence = sentenceOf(error);
        if (!open)
            return;
        open.busy = false;
        say($('confirm-error'), error instanceof Refusal && error.status === 401 ? 'The key is no longer accepted. Nothing was changed.' : sentence);
        show($('confirm-error'), true);
        refresh();
    }
}

$('confirm-form').addEventListener('submit', (event) => {
    event.preventDefault();
    if (open && !open.busy && !$('confirm-yes').disabled)
        carryOut();
});
$('confirm-cancel').addEventListener('click', close);
$('confirm').addEventListener('cancel', () => {
    open = null;
});
