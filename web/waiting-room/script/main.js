/*
 * The waiting page. Far from the front it reads the board, a document for everyone, and computes the place from
 * its own number; it polls exactly near the front and if something does not add up. ES2015 only, for old phones.
 * The gate inserts the parts (script/NAME.js) where they are named, and the result into the page: nothing is
 * fetched for it. So the parts share the scope of this function, and no name may be declared twice.
 */
(function () {
'use strict';

//@include decisions
//@include words
//@include proof

/* A theme's page of an earlier release may lack an element: what is shown there is left out. */
const byId = (id) => document.getElementById(id) || document.createElement('p');
const all = (selector) => Array.from(document.querySelectorAll(selector));
const chance = Math.random;
const on = (target, name, act) => target.addEventListener(name, act);
const state = JSON.parse(byId('state').textContent);
const languages = JSON.parse(byId('texts').textContent);
let lang = languages[state.lang] ? state.lang : 'en', texts = languages[lang];

//@include knowledge
//@include asking
//@include answers
//@include turn
//@include drawing

function changeLanguage(event) {
    if (languages[event.target.lang]) {
        event.preventDefault();
        lang = event.target.lang;
        texts = languages[lang];
        document.cookie = 'sluice_language=' + lang + '; Path=/; Max-Age=31536000; SameSite=Lax' +
            (location.protocol === 'https:' ? '; Secure' : '');
        renderTexts();
        render();
    }
}

byId('only').remove();
put('site', location.hostname);
hide('notify', !window.AudioContext && !window.webkitAudioContext);
all('form').forEach((form) => on(form, 'submit', (event) => {
    event.preventDefault();
    focusNext = true;
    soon(form.className);
}));
on(byId('languages'), 'click', changeLanguage);
on(byId('notify'), 'click', wantAlert);
all('.again').forEach((link) => on(link, 'click', () => remember('reloads', null)));
on(byId('unsafe-back'), 'click', () => history.back());
on(document, 'visibilitychange', () => document.hidden || wake());
on(window, 'online', () => {
    if (busy) {
        abort.abort();
    }
    wake();
});
on(window, 'offline', () => {
    me.trouble = next ? 'offline' : null;
    render();
});
on(window, 'pageshow', (event) => {
    // The event follows the first load as well: what was planned then stays.
    if (event.persisted) {
        if (me.opening) {
            // Back from the shop by the browser's button: the pass may have ended since.
            me.opening = false;
            me.status = 'WAITING';
            next = 'ask';
        }
        wake();
    }
});
setInterval(renderOpening, 1000);
renderTexts();
learnPosition(me);
if (/FULL|UNAVAILABLE/.test(me.ending)) {
    notBefore = clock() + stayAway(me.retryAfterMs, chance());
}
if (!navigator.cookieEnabled && state.board) {
    stop('COOKIES');
} else if (/FULL|ORDER/.test(me.ending)) {
    tryLater(me.ending, 10000);
} else if (me.ending === 'UNAVAILABLE') {
    plan(isWaiting() ? 'ask' : 'enter', 0);
} else if (state.board && !/TAKEN_OVER|COOKIES|LOGIN|LEFT/.test(me.ending)) {
    if (isWaiting()) {
        plan('board', 500 + chance() * 1000);
    } else if (me.proving) {
        plan('prove', 0);
    } else {
        follow('ask');
    }
}
render();
}());
