/*
 * The display and announcements, in the person's language.
 */

const said = {message: me.message, at: clock(), trouble: null, troubleAt: -SAY_MS};
let focusNext = false;

/* Writes the text; hides the element for an empty one. */
function put(id, text) {
    const element = byId(id);
    element.hidden = !text;
    if (element.textContent !== text) {
        element.textContent = text;
    }
}

function hide(id, hidden) {
    byId(id).hidden = hidden;
}

function writeKey(id, key) {
    byId(id).setAttribute('data-t', key);
    put(id, texts[key]);
}

const count = (value) => value.toLocaleString(lang);
const timeText = (text) => new Date(text).toLocaleString(lang,
    {month: 'long', day: 'numeric', hour: 'numeric', minute: '2-digit'});

function waitText() {
    const range = waitRange(me.wait);
    return me.eta === undefined ? '–' : fill(texts[range.key], {low: count(range.low), high: count(range.high)});
}

const headingOf = (face) => document.querySelector('.' + face + ' h1') || byId('');

function renderOpening() {
    hide('opening', !me.opensAt);
    put('countdown', clockText(msToOpening()));
    put('opens-at', fill(texts.opensAt, {time: timeText(me.opensAt)}));
}

function renderResult(result) {
    const length = (seconds) => durationText(seconds, texts), list = byId('result-rows');
    const rows = {admitted: count, lastNumberServed: count, seq: count, soldOutAt: timeText,
        lastWaitSeconds: length, longestWaitSeconds: length};
    list.textContent = '';
    for (const name of Object.keys(rows)) {
        const value = name === 'seq' ? me.seq : result[name];
        if (value != null) {
            const group = list.appendChild(document.createElement('div'));
            group.appendChild(document.createElement('dt')).textContent = texts[name];
            group.appendChild(document.createElement('dd')).textContent = rows[name](value);
        }
    }
}

/* One announcement at a time; the place only every half minute and in round numbers, the connection no more often. */
function announce(face, ahead) {
    const heading = headingOf(face), round = roundedAhead(ahead), now = clock();
    let text = '';
    if (face !== said.face) {
        text = said.face ? heading.textContent + ' ' + (texts[me.note] || '') : '';
        if (focusNext) {
            heading.tabIndex = -1;
            heading.focus();
            focusNext = false;
        }
    } else if (me.trouble !== said.trouble && now - said.troubleAt > SAY_MS) {
        text = texts[me.trouble || 'live'];
        said.trouble = me.trouble;
        said.troubleAt = now;
    } else if (me.message !== said.message) {
        text = me.message;
    } else if (ahead >= 0 && round !== said.round && now - said.at > SAY_MS) {
        text = round ? fill(texts.sayPlace, {ahead: count(round)}) + ' ' + texts.wait + ': ' + waitText() :
            texts.sayNext;
        said.round = round;
    }
    if (text) {
        byId('live').textContent = text;
        said.at = now;
    }
    Object.assign(said, {face, message: me.message});
}

function render() {
    const face = faceFor(me), ready = me.status === 'READY', drawn = isDrawn(me), early = face === 'PRE_OPEN';
    const known = isWaiting() && me.place && !(drawn && me.queueState === 'PRE_OPEN');
    const share = progressShare(me.way), heading = headingOf(face).textContent;
    document.body.setAttribute('data-face', face);
    all('.face').forEach((element) => {
        element.hidden = !element.classList.contains(face);
    });
    writeKey('pre-open-text', drawn ? 'preOpenDraw' : 'preOpenText');
    writeKey('unsafe-text', ready ? 'unsafeReady' : 'unsafeText');
    hide('unsafe-back', !ready);
    renderOpening();
    if (!known && face !== 'WAITING') {
        hide('standing', true);
    }
    if (ready) {
        hide('next', true);
    }
    hide('leaving', !isWaiting());
    put('place', known ? count(me.place) : '–');
    put('ahead', known ? count(me.place - 1) : '–');
    put('wait', waitText());
    hide('wait-row', early);
    hide('way', !known || !me.way || early);
    byId('bar').value = Math.max(share, 2);
    put('way-share', count(share) + ' %');
    hide('result', !me.result || !/SOLD_OUT|CLOSED/.test(face));
    renderResult(me.result || {});
    put('message', me.message || '');
    put('note', me.note && !me.ending && !ready ? texts[me.note] : '');
    put('connection', me.trouble || (next && !me.ending) ? texts[me.trouble || 'live'] : '');
    byId('connection').className = me.trouble ? 'lost' : '';
    document.title = [face !== 'WAITING' ? heading : known ? '#' + count(me.place) : '', texts.title,
        location.hostname].filter(Boolean).join(' – ');
    announce(face, known ? me.place - 1 : NaN);
}

function renderTexts() {
    document.documentElement.lang = lang;
    all('[data-t]').forEach((element) => {
        element.textContent = texts[element.getAttribute('data-t')];
    });
    byId('message').setAttribute('data-label', texts.messageLabel);
    byId('languages').setAttribute('aria-label', texts.language);
    all('#languages a').forEach((link) => link.setAttribute('aria-current', String(link.lang === lang)));
    [['keep', state.keepSeconds], ['pickup', state.pickupSeconds], ['turn', state.entryTtlSeconds]].forEach((row) => {
        if (row[1] > 0) {
            put(row[0], fill(texts[row[0]], {time: durationText(row[1], texts)}));
        }
    });
}
