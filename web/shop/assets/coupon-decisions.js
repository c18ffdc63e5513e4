/*
 * The decisions of the coupon page, from what is known and the time; no requests and no display. Tests load it by
 * `require`.
 */
(function (root) {
    'use strict';

    const LOOK_MS = 15000;
    const OVER_MS = 20000;
    const OPENING_SPREAD_MS = 1000;
    const CLOCK_JUMP_MS = 5000;
    const LONGEST_BACKOFF_MS = 15000;

    /** The more precise of two readings of the server's clock, i.e. the faster one, unless the clock was set. */
    function betterOffset(known, read) {
        return known === null || Math.abs(read - known) > CLOCK_JUMP_MS ? read : Math.max(known, read);
    }

    /** An event's state at `now`, in ms of the server's clock: a time that has passed counts before the server
     *  reports it. */
    function stateOf(event, now) {
        if (event.endsAt && now >= Date.parse(event.endsAt))
            return 'ENDED';
        return event.state === 'PRE_OPEN' && event.opensAt && now >= Date.parse(event.opensAt) ? 'OPEN' : event.state;
    }

    /** The progress in line, {key, place}: the place shown never grows while its number (key) stays. */
    function followWay(way, key, place) {
        return way && way.key === key ? { key, place: Math.min(way.place, place) } : { key, place };
    }

    /** The part of the page to show for what is known, at `now`. */
    function faceFor(me, now) {
        if (me.coupon || me.ending || !me.event || !me.looked)
            return me.coupon ? 'COUPON' : me.ending || 'LOADING';
        const state = stateOf(me.event, now);
        if (state === 'ENDED' || state === 'SOLD_OUT')
            return state;
        if (me.status === 'READY')
            return state === 'PRE_OPEN' ? 'EARLY' : 'TURN';
        if (me.queueState === 'SOLD_OUT' || me.queueState === 'CLOSED')
            return me.queueState;
        return me.status === 'WAITING' ? 'WAITING' : me.parted || 'INVITE';
    }

    /** Whether the event is over, so that a result can be shown. */
    function isOver(me, now) {
        const over = ['SOLD_OUT', 'ENDED'];
        return Boolean(me.event) && (over.includes(stateOf(me.event, now)) || over.includes(faceFor(me, now)));
    }

    /** How long to wait before the next request, in ms; Infinity: until the person acts. */
    function pauseFor(me, now, random) {
        const face = faceFor(me, now);
        const opening = me.event && stateOf(me.event, now) === 'PRE_OPEN' && me.event.opensAt
            ? Date.parse(me.event.opensAt) - now + random * OPENING_SPREAD_MS : Infinity;
        const pauses = {
            LOADING: 0,
            TURN: 0,
            WAITING: me.retryAfterMs,
            EARLY: Math.min(me.retryAfterMs, opening),
            INVITE: Math.min(LOOK_MS * (1 + random / 4), opening),
            MISSED: LOOK_MS * (1 + random / 4),
            LEFT: LOOK_MS * (1 + random / 4),
            SOLD_OUT: OVER_MS * (1 + random),
            CLOSED: OVER_MS * (1 + random),
        };
        return face in pauses ? pauses[face] : Infinity;
    }

    /** Backoff after so many failures, in ms: doubling, at least half of it. */
    function backoff(failures, random) {
        return Math.min(LONGEST_BACKOFF_MS, 500 * 2 ** Math.min(failures, 6)) * (0.5 + random / 2);
    }

    /** A wait in seconds for people: the name of a text and its number. */
    function waitWords(seconds) {
        if (seconds === null)
            return { name: 'couponWaitUnknown', number: 0 };
        if (seconds <= 60)
            return { name: 'couponWaitMinute', number: 1 };
        return seconds <= 5400 ? { name: 'couponWaitMinutes', number: Math.ceil(seconds / 60) } :
            { name: 'couponWaitHours', number: Math.ceil(seconds / 1800) / 2 };
    }

    /** Time left, in ms, as h:mm:ss. */
    function clockText(ms) {
        const seconds = Math.max(0, Math.ceil(ms / 1000));
        const two = (value) => String(value % 60).padStart(2, '0');
        const hours = Math.floor(seconds / 3600);
        return `${hours ? `${hours}:` : ''}${two(Math.floor(seconds / 60))}:${two(seconds)}`;
    }

    const decisions = { betterOffset, stateOf, followWay, faceFor, isOver, pauseFor, backoff, waitWords, clockText };
    if (typeof module === 'undefined')
        root.shop.decide = decisions;
    else
        module.exports = decisions;
}(globalThis));
