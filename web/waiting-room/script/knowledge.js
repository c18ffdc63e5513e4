/*
 * The state of the page: of its person (me), of the queue (board) and of the server's clock; how answers update it, and
 * what survives a reload.
 */

/* The state that must survive a reload; in the history entry if storage is refused, or has no room. */
const keyOf = (name) => 'sluice.' + state.queue + '.' + name;
const clock = steadyClock(Date.now);
const me = Object.assign({}, state, {
    status: state.status || 'NOT_ENTERED', unsafe: state.face === 'UNSAFE', way: recall('way'),
    activation: state.face === 'HOLD' ? 'hold' : null, askedAt: clock(), askEvery: RECHECK_MS, boardAt: 0,
    ending: /JOIN|PROOF|WAITING|READY|PRE_OPEN|PAUSED|HOLD|UNSAFE/.test(state.face) ? null : state.face,
    // In state, result is an address.
    result: null, trouble: null, rateAt: 0, waitAt: 0, failures: 0, proving: state.face === 'PROOF', proofs: 0, againAt: 0, resultAt: 0
});

let board = null, clockOffset = 0;

const isWaiting = () => me.status === 'WAITING';

function remember(name, value) {
    try {
        sessionStorage.setItem(keyOf(name), JSON.stringify(value));
    } catch (refused) {
        history.replaceState(Object.assign({}, history.state, {[keyOf(name)]: value}), '');
    }
}

function recall(name) {
    let text;
    try {
        text = sessionStorage.getItem(keyOf(name));
    } catch (refused) {
        // As without a value.
    }
    return text ? JSON.parse(text) : (history.state || {})[keyOf(name)];
}

function learnTime(text) {
    clockOffset = text ? Date.parse(text) - clock() : clockOffset;
}

const msToOpening = () => Date.parse(me.opensAt) - clock() - clockOffset;

function learnPlace(place) {
    me.place = place;
    // Before the opening a draw may still give any place: there is none to keep.
    if (place && me.queueState !== 'PRE_OPEN') {
        me.way = followWay(me.way, me.epoch + '.' + me.seq, place);
        me.place = me.way.shown;
        remember('way', me.way);
    }
}

/* The remaining wait, by the place and a rate smoothed over its samples. */
function learnWait(rate) {
    const now = clock();
    me.eta = undefined;
    if (isWaiting() && !standsStill(me) && me.place) {
        if (rate >= 0) {
            me.rate = me.rate ? approach(me.rate, rate, (now - me.rateAt) / 1000, 60) : rate;
            me.rateAt = now;
        }
        if (me.rate > 0.0001) {
            me.eta = me.place / me.rate;
            me.wait = damp(me.wait, me.eta, (now - me.waitAt) / 1000);
            me.waitAt = now;
        }
    }
}

function learnPosition(answer) {
    const place = answer.rank == null ? null : answer.rank + 1;
    learnTime(answer.serverTime);
    for (const name of ['status', 'queueState', 'seq', 'epoch', 'incarnation', 'retryAfterMs', 'exactOnly']) {
        me[name] = answer[name];
    }
    me.waiting = answer.currentTotalWaitingCount || answer.waiting;
    me.askedAt = clock();
    me.askEvery = RECHECK_MS * (0.8 + 0.4 * chance());
    learnPlace(place);
    learnWait(answer.estimatedWaitSeconds ? place / answer.estimatedWaitSeconds : -1);
    if (isWaiting()) {
        remember('reloads', null);
    }
}

function learnBoard(answer) {
    const now = clock();
    if (!board || answer.serverTime !== board.serverTime) {
        me.boardMovedAt = now;
        learnTime(answer.serverTime);
    }
    board = answer;
    me.boardAt = now;
    me.boardFailed = false;
    me.boardStalled = now - me.boardMovedAt > STALLED_MS;
    if (me.boardStalled) {
        return;
    }
    me.queueState = answer.state;
    for (const name of ['activation', 'mode', 'message', 'opensAt', 'waiting']) {
        me[name] = answer[name];
    }
    if (isWaiting() && !isDrawn(me) && board.epoch === me.epoch &&
        board.incarnation === me.incarnation) {
        learnPlace(placeFromBoard(board, me.seq) || me.place);
    }
    learnWait(answer.admittedPerSecond);
}
