/*
 * The handling of answers: what the page learns from them, and the next request and its time.
 */

const ANSWERS = {
    enter(body) {
        me.ending = me.proof = null;
        me.proving = false;
        me.proofs = 0;
        learnPosition(body);
        follow('enter');
    },
    code(body) {
        ANSWERS.enter(body);
        me.note = 'noteCode';
        byId('coding').open = false;
    },
    ask(body) {
        learnPosition(body);
        if (me.status === 'NOT_ENTERED' && !/SOLD_OUT|CLOSED/.test(me.queueState)) {
            enterAgain('noteAgain');
        } else {
            me.ending = null;
            follow('ask');
        }
    },
    prove(challenge) {
        next = null;
        solve(challenge, 0, ++me.proofs);
    },
    board(body) {
        learnBoard(body);
        if (isWaiting()) {
            // The place is still there, whatever the page was told before: the state of the queue counts.
            me.ending = null;
        }
        if (/off|watch/.test(me.activation)) {
            plan('open', chance() * SPREAD_MS);
        } else {
            follow('board');
        }
    },
    result(body) {
        me.result = body;
        decide('result');
    },
    reload,
    leave() {
        me.status = 'NOT_ENTERED';
        me.note = null;
        stop('LEFT');
    }
};

const PROBLEMS = {
    COOKIES_REQUIRED: () => stop('COOKIES'),
    UNAUTHENTICATED: (body, kind) => kind === 'ask' ? plan('enter', 0) :
        stop(me.identity === 'member' ? 'LOGIN' : 'COOKIES'),
    SESSION_REVOKED: () => stop('TAKEN_OVER'),
    QUEUE_RESET: () => enterAgain('noteReset'),
    TICKET_INVALID: () => enterAgain('noteAgain'),
    SOLD_OUT: () => decide('enter', 'SOLD_OUT'),
    QUEUE_CLOSED: () => decide('enter', 'CLOSED'),
    NOT_FOUND: () => decide('enter', 'NOT_CONFIGURED'),
    QUEUE_FULL: (body, kind, retryMs) => tryLater('FULL', Math.max(retryMs, 10000)),
    ALREADY_ACTIVE: () => tryLater('ORDER', 20000),
    CAPTCHA_FAILED() {
        me.ending = me.proof = null;
        me.proving = true;
        plan('prove', me.proofs ? backoff(me.proofs, chance()) : 0);
    },
    CODE_INVALID() {
        me.note = 'noteCodeWrong';
        plan(isWaiting() ? 'ask' : 'enter', 1000);
    },
    ORDER_IN_PROGRESS() {
        me.note = 'noteOrder';
        plan('ask', 1000);
    }
};

/* Does the proof of work, in short slices, and enters with it. `number`: of the challenge; only the last one counts. */
function solve(challenge, counter, number) {
    const found = tryCounters(challenge, counter);
    if (!me.proving || number !== me.proofs) {
        return;
    }
    if (found.solution) {
        me.proof = btoa(JSON.stringify({challenge, solution: found.solution}));
        plan('enter', 0);
    } else {
        setTimeout(solve, 0, challenge, found.counter, number);
    }
}

function tryLater(face, delay) {
    me.ending = face;
    plan('enter', delay * (1 + chance() / 4));
}

/* Automatically only once: a person who loses the place again immediately is asked. */
function enterAgain(note) {
    const now = clock();
    me.status = 'NOT_ENTERED';
    if (now - me.againAt < ROW_MS) {
        stop('LEFT');
    } else {
        me.againAt = now;
        me.note = note;
        plan('enter', chance() * 2000);
    }
}

function follow(kind) {
    if (!me.ending && me.status === 'READY' && me.activation !== 'hold') {
        open();
    } else {
        decide(kind);
    }
}

/* What to do after `kind`, and when. Who waits where all is sold out may be the next one when it goes on. */
function decide(kind, ending) {
    me.ending = ending || me.ending;
    const now = clock(), random = chance(), face = faceFor(me), waits = isWaiting();
    const why = waits && whyAsk(me, board, now), close = /near|exact/.test(why);
    const retryMs = me.retryAfterMs || 1000;
    if (/SOLD_OUT|CLOSED|NOT_CONFIGURED/.test(face)) {
        if (kind === 'board' && !me.boardFailed && /OPEN|PAUSED/.test(me.queueState)) {
            plan('enter', random * SPREAD_MS);
        } else if (kind === 'board' && why) {
            plan('ask', spreadOf(why, me.waiting, random));
        } else if (face !== 'NOT_CONFIGURED' && now - me.resultAt > RECHECK_MS) {
            me.resultAt = now;
            plan('result', random * 3000);
        } else {
            plan('board', waits ? hiddenDelay(state.pickupSeconds, random) : 20000 + random * 20000);
        }
    } else if (me.status === 'NOT_ENTERED') {
        plan('enter', random * 1000);
    } else if (kind === 'board' && why) {
        plan('ask', Math.max(spreadOf(why, me.waiting, random), me.askedAt + retryMs - now));
    } else if (document.hidden) {
        plan('board', hiddenDelay(state.pickupSeconds, random));
    } else if (close) {
        plan(now - me.boardAt < BOARD_MS ? 'ask' : 'board', retryMs);
    } else {
        const delay = Math.max(boardDelay(me, random), kind === 'ask' ? retryMs : 0);
        const opening = me.queueState === 'PRE_OPEN' ? msToOpening() : 0;
        plan('board', opening > 0 ? Math.min(delay, opening + random * 2000) : delay);
    }
}
