/*
 * The decisions of the waiting page, from what is known and the time: its place by the board, whether and when to poll,
 * which face to show. No requests and no display; tests load it by tests/page/waiting_page.js.
 */

const NEAR_AHEAD = 20, NEAR_SECONDS = 5, STALLED_MS = 10000, BOARD_MS = 3000, HEARD_MS = 1000, SPREAD_MS = 5000, RECHECK_MS = 300000;
const RELOADS_IN_A_ROW = 5, RELOAD_GAP_MS = 3000, ROW_MS = 60000, SAY_MS = 30000;

/** The 1-based place of number `seq` by the board; null if the board does not suffice. */
function placeFromBoard(board, seq) {
    // A board older than the number says nothing about it.
    if (!(seq >= board.headSeq) || board.lastSeq < seq) {
        return null;
    }
    let place = seq - board.headSeq + 1;
    for (const gone of board.departures || []) {
        // A range that overlaps only partly may have lost members behind us, or before the head.
        if (gone.from >= board.headSeq && gone.to < seq) {
            place -= gone.count;
        }
    }
    return Math.max(1, board.waiting > 0 ? Math.min(place, board.waiting) : place);
}

/** The progress, {key, first, shown}. The place shown never grows while the number (key) stays. */
function followWay(way, key, place) {
    return way && way.key === key ? {key, first: way.first, shown: Math.min(way.shown, place)} :
        {key, first: place, shown: place};
}

function standsStill(me) {
    return /PRE_OPEN|PAUSED|SOLD_OUT|CLOSED/.test(me.queueState) || me.activation === 'hold';
}

function isDrawn(me) {
    return me.exactOnly || me.mode === 'lottery';
}

/** Why the place must be polled, or null if the board suffices. `now` in ms. */
function whyAsk(me, board, now) {
    const exact = isDrawn(me) || me.seq == null, moves = !standsStill(me);
    const close = !me.place || me.place <= NEAR_AHEAD + 1 || me.eta <= NEAR_SECONDS;
    return moves && exact ? 'exact' :
        moves && close ? 'near' :
        !board || me.boardFailed ? 'board' :
        me.seq != null && (board.epoch !== me.epoch || board.incarnation !== me.incarnation) ? 'changed' :
        me.boardStalled ? 'stalled' :
        !exact && board.headSeq > me.seq ? 'passed' :
        now - me.askedAt >= me.askEvery ? 'recheck' : null;
}

/** How long to delay a request, in ms, so that a crowd does not send it together. */
function spreadOf(why, waiting, random) {
    const most = {changed: SPREAD_MS, stalled: SPREAD_MS, board: SPREAD_MS, passed: 1000,
        exact: Math.min(30000, (waiting || 0) / 20)};
    return random * (most[why] || 0);
}

/** The time until the board is read again, in ms: 1 to 30 s by the remaining wait, and up to a quarter more. */
function boardDelay(me, random) {
    const eta = me.eta === undefined ? (me.place || 3000) / 10 : me.eta;
    const seconds = standsStill(me) ? 5 : eta <= 10 ? 1 : eta <= 60 ? 2 : eta <= 300 ? 5 : eta <= 1800 ? 10 : 30;
    return seconds * 1000 * (1 + random / 4);
}

/**
 * The same in a hidden tab: 20 to 30 s, but well within the time one may be away at the front. Not more: members near the
 * front must come back with the ticket before recoverySeconds have passed, if Redis loses its memory.
 */
function hiddenDelay(pickupSeconds, random) {
    const longest = Math.min(30, (pickupSeconds || 90) / 2), shortest = Math.min(20, longest * 0.75);
    return (shortest + (longest - shortest) * random) * 1000;
}

/** Backoff after so many failures, in ms: doubling up to 30 s, at least half of it. */
function backoff(failures, random) {
    return Math.min(30000, 500 * Math.pow(2, Math.min(failures, 6))) * (0.5 + random / 2);
}

/** How long to stay away, in ms, if the server set a time: randomized, so that a crowd does not come back together. */
function stayAway(retryMs, random) {
    return retryMs * (1 + random / 4);
}

/** A clock for lengths of time, in ms: follows `wall`, the device's clock, but does not go back when that is set back. */
function steadyClock(wall) {
    let shift = 0, last = wall();
    return () => {
        shift = Math.max(shift, last - wall());
        return last = wall() + shift;
    };
}

/** How long to wait before a reload of the page, in ms; -1: too many reloads already. */
function reloadWait(record, now) {
    if (!record || now - record.at > ROW_MS) {
        return 0;
    }
    // The record is another page's: the device's clock may have been set back since.
    return record.count >= RELOADS_IN_A_ROW ? -1 : Math.max(0, RELOAD_GAP_MS - Math.max(0, now - record.at));
}

/** The face for what is known. `me.ending` is a final one that only an answer or the person
 *  changes. */
function faceFor(me) {
    const hold = me.activation === 'hold', ready = me.status === 'READY' && !hold;
    return me.ending || (
        !ready && /SOLD_OUT|CLOSED/.test(me.queueState) ? me.queueState :
        me.unsafe ? 'UNSAFE' :
        ready ? 'READY' :
        hold ? 'HOLD' :
        standsStill(me) ? me.queueState :
        me.status === 'WAITING' ? 'WAITING' :
        me.proving ? 'PROOF' : 'JOIN');
}
