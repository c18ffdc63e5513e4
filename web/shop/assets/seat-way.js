/*
 * The steps to seats: the current map, the chosen seats, the holds, and the order. seats.js shows the
 * state. api.js, order.js and seat-plan.js come before this.
 *
 * Time is the server's: its answers contain it, and from then on performance.now() measures, which cannot be
 * set. When the deadline of a hold has passed, the page asks the server for the remaining holds.
 */
(function (shop) {
    'use strict';

    const ANSWER_WITHIN_MS = 15000;
    const AFTER_DEADLINE_MS = 150;
    const { Lost, persist, seatPlan } = shop;

    /** The server's clock, in ms; null before the first answer. */
    function makeClock() {
        let offset = null;
        return {
            now: () => (offset === null ? null : performance.now() + offset),
            /** The time in an answer is older than its arrival: of two readings the later one is better. */
            read(serverTime) {
                const read = Date.parse(serverTime) - performance.now();
                offset = offset === null ? read : Math.max(offset, read);
            },
            /** A computer that slept has measured wrongly. */
            forget: () => { offset = null; },
        };
    }

    /**
     * One show. `on` gets the events: map(changed) after the seats or the viewer's own have changed, `changed` being
     * true for a new plan; notice(name, {seats, …parameters}, {action, reference}) has a sentence for the person, name
     * null removes it; link(state) reports 'ok', 'lost' or 'holdsUnknown'.
     */
    function SeatWay(info, on) {
        const path = `/v1/shows/${encodeURIComponent(info.id)}`;
        const clock = makeClock();
        const wished = new Set();
        let map = null;
        let byId = new Map();
        let holds = []; // {seat, until}, soonest first
        let held = new Set();
        let token = null;
        let etag = '';
        let writes = 0; // a map requested before a change does not contain it
        let stale = true; // the viewer's holds must be read
        let timer = null;
        let deadline = null;
        let looking = false;
        let again = false; // another look was requested during one
        const pace = { hidden: false, looksHidden: 0, failures: 0, retryAfter: 0 };

        const seatsOf = (ids) => [...ids].map((id) => byId.get(id)).filter(Boolean);
        const orderedCount = () => (map ? map.seats.filter((seat) => seat.mine && !held.has(seat.id)).length : 0);
        const most = () => Math.max(0, info.maxSeatsPerMember - orderedCount());

        /** The map, or null if there is no newer one; throws Lost. */
        async function askMap() {
            const control = new AbortController();
            const limit = setTimeout(() => control.abort(), ANSWER_WITHIN_MS);
            try {
                const headers = { Accept: 'application/json', ...(etag ? { 'If-None-Match': etag } : {}) };
                const answer = await fetch(`${path}/seats`, { headers, cache: 'no-store', signal: control.signal });
                pace.retryAfter = Number.parseInt(answer.headers.get('Retry-After'), 10) || 0;
                if (answer.status === 304)
                    return null;
                if (!answer.ok)
                    throw new Lost(`status ${answer.status}`);
                return { etag: answer.headers.get('ETag') || '', ...await answer.json() };
            } catch (error) {
                throw new Lost(error.message);
            } finally {
                clearTimeout(limit);
            }
        }

        function lose(seats, name = 'seatsLost') {
            if (!seats.length)
                return;
            seats.forEach((seat) => wished.delete(seat.id));
            on.notice(name, { seats, lost: true, kept: wished.size });
        }

        /** Applies a map: finds chosen seats that are gone, and own seats changed elsewhere. */
        function takeMap(answer) {
            const isNew = !seatPlan.isSamePlan(map, answer);
            const count = (seats) => seats.filter((seat) => seat.mine).length;
            const hasChanged = map !== null && count(map.seats) !== count(answer.seats);
            etag = answer.etag;
            map = answer;
            byId = new Map(map.seats.map((seat) => [seat.id, seat]));
            if (isNew)
                [...wished].filter((id) => !byId.has(id)).forEach((id) => wished.delete(id));
            stale = stale || hasChanged;
            lose(seatPlan.lostOf(map.seats, wished, held));
            on.map(isNew);
        }

        function takeHolds(answer, isOurs) {
            const now = Date.parse(answer.serverTime);
            const before = holds;
            clock.read(answer.serverTime);
            holds = answer.held.map(({ seat, expiresAt }) => ({ seat, until: Date.parse(expiresAt) }));
            held = new Set(holds.map(({ seat }) => seat));
            stale = false;
            holds.filter(({ seat }) => isOurs || !before.some((other) => other.seat === seat))
                .forEach(({ seat }) => wished.add(seat));
            if (!isOurs)
                partFrom(before.filter(({ seat }) => !held.has(seat)), now);
            clearTimeout(deadline);
            if (holds.length)
                deadline = setTimeout(look, holds[0].until - now + AFTER_DEADLINE_MS);
            if (map)
                on.map(false);
        }

        /** Holds that are gone although nothing was done here. */
        function partFrom(gone, now) {
            const over = gone.filter(({ until }) => until <= now).map(({ seat }) => seat);
            const elsewhere = gone.filter(({ until }) => until > now).map(({ seat }) => seat);
            gone.forEach(({ seat }) => wished.delete(seat));
            if (over.length)
                on.notice('seatsRanOut', { seats: seatsOf(over) });
            else if (elsewhere.length)
                on.notice('seatsElsewhere', { seats: seatsOf(elsewhere) });
        }

        /** The viewer's holds; false without a login, null if they cannot be read at the moment. */
        async function askHolds() {
            const answer = await shop.call('GET', `${path}/holds/mine`);
            if (answer.status === 200)
                return answer.body;
            return answer.status === 401 ? false : null;
        }

        /** Reads everything once. Returns the state of the connection to show; null: no result. */
        async function lookOnce() {
            const began = writes;
            if (holds.length && clock.now() !== null && holds[0].until <= clock.now())
                stale = true;
            const [answer, mine] = await Promise.all([askMap(), stale ? askHolds() : undefined]);
            if (began !== writes)
                return null;
            stale = mine === null;
            pace.failures = stale ? pace.failures + 1 : 0;
            if (mine)
                takeHolds(mine, false);
            if (answer)
                takeMap(answer);
            return mine !== null && map.holdsKnown ? 'ok' : 'holdsUnknown';
        }

        /** Looks, and schedules the next look. */
        async function look() {
            again = looking;
            if (looking)
                return;
            looking = true;
            let link = 'lost';
            try {
                link = await lookOnce();
            } catch (error) {
                if (!(error instanceof Lost))
                    throw error;
                pace.failures++;
            } finally {
                looking = false;
                pace.looksHidden = pace.hidden ? pace.looksHidden + 1 : 0;
                clearTimeout(timer);
                const isSoon = again || link === null || (stale && !pace.failures);
                timer = setTimeout(look, isSoon ? 0 : seatPlan.pauseFor(pace, Math.random()));
            }
            if (link)
                on.link(link);
        }

        function lookSoon() {
            clearTimeout(timer);
            timer = setTimeout(look, 0);
        }

        const sayBusy = (seconds) => on.notice('seatsBusy', { seconds });

        /** The entry token, or null if there is none, which was reported. */
        async function turn() {
            if (token)
                return token;
            const { position, ...notice } = await shop.askTurn(sayBusy, info.queue);
            if (!position)
                on.notice(notice.text, {}, notice);
            token = position ? position.entryToken : null;
            return token;
        }

        function refuseHold(answer) {
            const { taken = [], most: limit, instance } = answer.body;
            switch (answer.code) {
            case 'SEATS_TAKEN':
                taken.map((id) => byId.get(id)).forEach((seat) => seat && !held.has(seat.id) && (seat.status = 'HELD'));
                lose(seatsOf(taken), 'seatsTaken');
                etag = '';
                on.map(false);
                break;
            case 'TOO_MANY_SEATS':
                on.notice('seatsMost', { most: limit === undefined ? info.maxSeatsPerMember : limit });
                break;
            case 'UNKNOWN_SEAT':
                on.notice('seatsUnknown', {});
                break;
            case 'ENTRY_TOKEN_INVALID':
                on.notice(holds.length ? 'seatsTurnOverHeld' : 'seatsTurnOver', {}, { action: 'lineUp' });
                break;
            case 'UNAUTHENTICATED':
                on.notice('noPlace', {}, { action: 'shop' });
                break;
            case 'ORDER_IN_PROGRESS':
                on.notice('seatsOrdering', {});
                break;
            case 'NOT_FOUND':
                on.notice('notSold', {}, { action: 'shop' });
                break;
            default:
                on.notice(shop.isBusy(answer) ? 'seatsBusyLong' : 'failed', {}, { action: 'retry', reference: instance });
            }
        }

        async function sendHold() {
            const seats = [...wished];
            const mine = await turn();
            if (!mine)
                return;
            const ask = (entryToken) => persist(sayBusy, 'POST', `${path}/holds`,
                { headers: { 'X-Entry-Token': entryToken }, body: { seats, replace: true } });
            let answer = await ask(mine);
            if (answer.code === 'ENTRY_TOKEN_INVALID') {
                // Maybe only a new one was issued.
                token = null;
                const next = await turn();
                if (!next)
                    return;
                answer = next === mine ? answer : await ask(next);
            }
            if (answer.status === 201) {
                takeHolds(answer.body, true);
                on.notice('seatsHeld', { seats: seatsOf(held) });
            } else {
                refuseHold(answer);
            }
        }

        async function sendBack() {
            const answer = await persist(sayBusy, 'DELETE', `${path}/holds`);
            if (answer.status !== 204) {
                refuseHold(answer);
                return;
            }
            const seats = seatsOf(held);
            holds = [];
            held = new Set();
            wished.clear();
            clearTimeout(deadline);
            seats.forEach((seat) => Object.assign(seat, { status: 'AVAILABLE', mine: false }));
            on.map(false);
            on.notice('seatsGivenBack', { seats });
        }

        /** A change: maps requested before it are discarded. */
        async function write(work, onLost) {
            writes++;
            try {
                return await work();
            } catch (error) {
                if (!(error instanceof Lost))
                    throw error;
                stale = true;
                on.notice(onLost, {}, { action: 'retry' });
                return undefined;
            } finally {
                writes++;
                etag = '';
                lookSoon();
            }
        }

        /** Orders the held seats. Returns the order; undefined if something else was reported. */
        async function order() {
            const { order: made, answer, ...notice } = await shop.buySeats(info.queue, info.id, [...held], sayBusy);
            if (made)
                return made;
            const { notHeld = [], taken = [] } = answer ? answer.body : {};
            stale = true;
            token = null;
            if (taken.length)
                lose(seatsOf(taken), 'seatsTaken');
            else
                on.notice(notice.text, { seats: seatsOf(notHeld) }, notice);
            return undefined;
        }

        return {
            wished,
            most,
            seatsOf,
            seats: () => (map ? map.seats : []),
            held: () => held,
            faceOf: (index) => seatPlan.faceOf(map.seats[index], wished, held),
            /** The remaining time of the holds, in ms, by the server's clock; null without
             *  holds. */
            left: () => (holds.length && clock.now() !== null ? Math.max(0, holds[0].until - clock.now()) : null),
            isUnsure: () => shop.isUnsure(`show.${info.id}`),
            look,
            /** Reports whether the page is visible. */
            setHidden(hidden) {
                pace.hidden = hidden;
                if (hidden)
                    return;
                pace.looksHidden = 0;
                clock.forget();
                stale = true;
                lookSoon();
            },
            /** Chooses or unchooses a seat; false if the maximum is reached. */
            toggle(id) {
                if (!wished.delete(id)) {
                    if (wished.size >= most())
                        return false;
                    wished.add(id);
                }
                on.map(false);
                return true;
            },
            hold: () => write(sendHold, 'seatsHoldLost'),
            giveBack: () => write(sendBack, 'seatsHoldLost'),
            order: () => write(order, 'lost'),
        };
    }

    Object.assign(shop, { SeatWay });
}(window.shop));
