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

const byId = (id) => document.getElementById(id);
const all = (selector) => Array.from(document.querySelectorAll(selector));
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

function listen() {
    all('form').forEach((form) => form.addEventListener('submit', (event) => {
        event.preventDefault();
        focusNext = true;
        soon(form.className);
    }));
    byId('languages').addEventListener('click', changeLanguage);
    byId('notify').addEventListener('click', wantAlert);
    all('.again').forEach((link) => link.addEventListener('click', () => remember('reloads', null)));
    byId('unsafe-back').addEventListener('click', () => history.back());
    document.addEventListener('visibilitychange', () => document.hidden || wake());
    addEventListener('online', () => {
        if (busy) {
            abort.abort();
        }
        wake();
    });
    addEventListener('offline', () => {
        me.trouble = next ? 'offline' : null;
        render();
    });
    addEventListener('pageshow', (event) => {
        if (event.persisted && me.opening) {
            // Back from the shop by the browser's button: the pass may have ended since.
            me.opening = false;
            me.status = 'WAITING';
            next = 'ask';
        }
        wake();
    });
    setInterval(renderOpening, 1000);
}

byId('only').remove();
put('site', location.hostname);
byId('notify').hidden = !window.AudioContext && !window.webkitAudioContext;
listen();
renderTexts();
learnPosition(me);
if (!navigator.cookieEnabled && state.board) {
    stop('COOKIES');
} else if (me.ending === 'FULL' || me.ending === 'ORDER') {
    tryLater(me.ending, 10000);
} else if (me.ending === 'UNAVAILABLE') {
    plan(me.status === 'WAITING' ? 'ask' : 'enter', stayAway(me.retryAfterMs, Math.random()));
} else if (state.board && !/TAKEN_OVER|COOKIES|LOGIN|LEFT/.test(me.ending)) {
    if (me.status === 'WAITING') {
        plan('board', 500 + Math.random() * 1000);
    } else if (me.proving) {
        plan('prove', 0);
    } else {
        follow('ask');
    }
}
render();
}());
