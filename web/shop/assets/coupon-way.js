/*
 * The steps to a coupon: its event, the line, the turn, the coupon. A loop that sends one request at a time;
 * coupon.js shows the state. api.js, captcha.js and coupon-decisions.js come before this.
 */
(function (shop) {
    'use strict';

    const SOLUTION_GOOD_MS = 4 * 60000;
    const TRIES = 3;
    const WAKE_AFTER_MS = 1000;
    const EVENT_EVERY_MS = 15000;
    const { betterOffset, stateOf, followWay, faceFor, isOver, pauseFor, backoff } = shop.decide;

    /* Shown while the same step is retried, by the answer's code. */
    const LATER = {
        COUPON_BUSY: 'couponBusy',
        ORDER_IN_PROGRESS: 'couponInProgress',
        ORDER_CAPACITY: 'couponCapacity',
        RATE_LIMITED: 'couponRateLimited',
        QUEUE_FULL: 'couponQueueFull',
        ORDERS_UNAVAILABLE: 'couponOrdersUnavailable',
        ADMISSION_UNAVAILABLE: 'couponAdmissionUnavailable',
        CAPTCHA_UNAVAILABLE: 'couponCaptchaUnavailable',
        EVENT_NOT_OPEN: 'couponNotOpen',
    };

    /** The answer was "later": retries the step after `pauseMs`. */
    class Later extends Error {
        constructor(answer) {
            super(answer.code);
            this.text = LATER[answer.code] || 'couponBusyServer';
            this.pauseMs = shop.busyPause(answer) * 1000;
        }
    }

    const way = {
        get(name) {
            try {
                return JSON.parse(sessionStorage.getItem(`shop.coupon.${name}`));
            } catch (error) {
                return null;
            }
        },
        keep(name, value) {
            try {
                sessionStorage.setItem(`shop.coupon.${name}`, JSON.stringify(value));
            } catch (error) {
                // Storage may be forbidden: then the state lives as long as the page.
            }
        },
    };

    /**
     * Starts the steps to a coupon of the event `id`. `onChange(me)` is called whenever the display should change;
     * the proof of work is shown in `place`. Returns {want, wake, now}.
     */
    function follow(id, place, onChange) {
        const eventPath = `/v1/coupon-events/${encodeURIComponent(id)}`;
        const me = {
            id, status: 'NOT_ENTERED', queueState: null, way: way.get(id), failures: 0, refusals: 0, offset: null,
        };
        let proof = null;
        let wakeUp = () => {};
        let askedAt = 0;
        let eventAskedAt = 0;

        const now = () => Date.now() + (me.offset || 0);
        const queuePath = (what) => `/v1/queues/${encodeURIComponent(me.event.queue)}${what}`;

        function readClock(text) {
            if (text)
                me.offset = betterOffset(me.offset, Date.parse(text) - Date.now());
        }

        /** The API's answer, unless that is "later". */
        async function ask(...request) {
            const answer = await shop.call(...request);
            if (shop.isBusy(answer))
                throw new Later(answer);
            return answer;
        }

        /** No more automatic steps. `again`: the person may try once more. */
        function end(face, sentence, { again = false, answer } = {}) {
            me.ending = face;
            me.sentence = sentence;
            me.again = again;
            me.reference = answer && answer.status >= 500 ? answer.body.instance : undefined;
        }

        const failed = (answer) => end('FAILED', 'couponFailed', { again: true, answer });

        function part(parted) {
            me.status = 'NOT_ENTERED';
            me.parted = parted;
            proof = null;
        }

        function learnPosition(body) {
            readClock(body.serverTime);
            me.status = body.status;
            me.queueState = body.queueState;
            me.retryAfterMs = body.retryAfterMs;
            me.waiting = body.currentTotalWaitingCount;
            me.wait = body.estimatedWaitSeconds;
            me.token = body.entryToken;
            me.tokenEnds = body.entryTokenExpiresAt;
            me.place = null;
            if (body.status !== 'NOT_ENTERED')
                me.parted = null;
            if (body.status === 'WAITING' && body.rank !== null) {
                me.way = followWay(me.way, `${body.epoch}.${body.seq}`, body.rank + 1);
                me.place = me.way.place;
                way.keep(id, me.way);
            }
            if (body.status === 'WAITING' && me.event.captcha === 'altcha')
                shop.prepareProof();
        }

        /** Fetches the result, once it is over. Optional: a failure is ignored. */
        async function askResult() {
            if (!isOver(me, now()))
                return;
            onChange(me);
            const answer = await shop.call('GET', `${eventPath}/result`).catch(() => ({}));
            if (answer.status === 200)
                me.result = answer.body;
        }

        async function askEvent() {
            const answer = await ask('GET', eventPath);
            eventAskedAt = Date.now();
            if (answer.status === 404)
                end('UNKNOWN');
            else if (answer.status !== 200)
                failed(answer);
            else {
                readClock(answer.body.serverTime);
                me.event = answer.body;
            }
            return answer.status === 200;
        }

        /** Learns whether the member already has a coupon; 404 for none. */
        async function askMine() {
            const answer = await ask('GET', `${eventPath}/coupons/mine`);
            if (answer.status === 200)
                me.coupon = answer.body;
            return answer;
        }

        /** The token is spent or has expired: it got a coupon, perhaps in another tab, or nothing. */
        async function turnOver() {
            const answer = await askMine();
            if (answer.status === 404)
                part('MISSED');
            else if (answer.status === 401)
                end('STRANGER');
            else if (answer.status !== 200)
                failed(answer);
        }

        const POSITION_REFUSED = {
            SESSION_REVOKED: () => end('TAKEN'),
            QUEUE_RESET: () => enterAgain('couponReset'),
            TICKET_INVALID: () => enterAgain('couponAgain'),
            UNAUTHENTICATED: () => (me.status === 'NOT_ENTERED' ? part(me.parted) : end('STRANGER')),
            NOT_FOUND: () => end('UNKNOWN'),
        };

        function enterAgain(note) {
            me.note = note;
            me.wish = 'enter';
        }

        async function askPosition() {
            const answer = await ask('GET', queuePath('/position'));
            if (answer.status !== 200) {
                (POSITION_REFUSED[answer.code] || failed)(answer);
                return;
            }
            // Before the end is learned: if this fails, the next step finds the same again.
            if (me.status !== 'NOT_ENTERED' && answer.body.status === 'NOT_ENTERED')
                await turnOver();
            if (me.ending)
                return;
            learnPosition(answer.body);
            const isShut = me.queueState === 'SOLD_OUT' || me.queueState === 'CLOSED';
            // The event's times may have changed, too.
            if (me.status === 'WAITING' && isShut || Date.now() - eventAskedAt > EVENT_EVERY_MS)
                await askEvent();
        }

        /** A person who is not in line is shown the public state. */
        async function askQueue() {
            const answer = await ask('GET', queuePath(''));
            if (answer.status === 200)
                me.queueState = answer.body.state;
        }

        async function begin() {
            if (!await askEvent() || (await askMine()).status === 200)
                return;
            await askPosition();
            if (me.status === 'NOT_ENTERED' && !me.ending && !me.coupon)
                await askQueue();
            me.looked = true;
        }

        async function lookAgain() {
            if (await askEvent())
                await (me.status === 'NOT_ENTERED' ? askQueue() : askPosition());
        }

        const ENTRY_REFUSED = {
            SOLD_OUT: () => { me.queueState = 'SOLD_OUT'; },
            QUEUE_CLOSED: () => { me.queueState = 'CLOSED'; },
            ALREADY_ACTIVE: () => end('FAILED', 'couponActive', { again: true }),
            UNAUTHENTICATED: () => end('STRANGER'),
            NOT_FOUND: () => end('UNKNOWN'),
        };

        async function enter() {
            const answer = await ask('POST', queuePath('/entries'));
            me.wish = null;
            me.ending = null;
            proof = null;
            if (answer.status === 200 || answer.status === 201)
                learnPosition(answer.body);
            else
                (ENTRY_REFUSED[answer.code] || failed)(answer);
            if (me.queueState === 'SOLD_OUT')
                await askEvent();
        }

        async function leave() {
            const answer = await ask('DELETE', queuePath('/entries'));
            me.wish = null;
            if (answer.status === 204)
                part('LEFT');
            else
                failed(answer);
        }

        /** Shows what is being done for the person whose turn it is. */
        function tell(doing) {
            me.doing = doing;
            onChange(me);
        }

        /** Makes sure that there is a solution for this token. False: none yet. */
        async function prove() {
            if (proof && proof.token === me.token && Date.now() - proof.at < SOLUTION_GOOD_MS)
                return true;
            tell('couponProving');
            const made = await shop.prove(id, place);
            if (made.solution) {
                proof = { token: me.token, at: Date.now(), text: made.solution };
                return true;
            }
            if (made.impossible)
                end('FAILED', 'couponImpossible');
            else if (!made.refused)
                again('couponProofFailed');
            else if (shop.isBusy(made.refused))
                throw new Later(made.refused);
            else if (made.refused.code === 'UNAUTHENTICATED')
                end('STRANGER');
            else
                failed(made.refused);
            return false;
        }

        /** Another proof, but not endlessly. */
        function again(sentence) {
            proof = null;
            me.refusals += 1;
            if (me.refusals % TRIES === 0)
                end('FAILED', sentence, { again: true });
        }

        const ISSUE_REFUSED = {
            CAPTCHA_FAILED: () => again('couponCaptchaFailed'),
            SOLD_OUT: () => { me.event.state = 'SOLD_OUT'; },
            EVENT_ENDED: () => { me.event.state = 'ENDED'; },
            ENTRY_TOKEN_INVALID: turnOver,
            ENTRY_TOKEN_REQUIRED: turnOver,
            UNAUTHENTICATED: () => end('STRANGER'),
            NOT_FOUND: () => end('UNKNOWN'),
            // The opening may have been moved: only the event knows.
            EVENT_NOT_OPEN: async (answer) => {
                if (await askEvent() && stateOf(me.event, now()) !== 'PRE_OPEN')
                    throw new Later(answer);
            },
        };

        async function issue() {
            if (me.event.captcha === 'siteverify') {
                end('FAILED', 'couponOtherCaptcha');
                return;
            }
            if (me.event.captcha === 'altcha' && !await prove())
                return;
            tell('couponIssuing');
            const answer = await ask('POST', `${eventPath}/coupons`, {
                headers: { 'X-Entry-Token': me.token },
                body: proof ? { captcha: proof.text } : undefined,
            });
            if (answer.status === 200 || answer.status === 201)
                me.coupon = answer.body;
            else
                await (ISSUE_REFUSED[answer.code] || failed)(answer);
        }

        function step() {
            if (me.wish)
                return me.wish === 'leave' ? leave() : enter();
            const acts = { LOADING: begin, TURN: issue, WAITING: askPosition, EARLY: askPosition };
            return (acts[faceFor(me, now())] || lookAgain)();
        }

        /** Waits until the time is over or the person acts. */
        function rest(ms) {
            return new Promise((done) => {
                wakeUp = done;
                if (ms !== Infinity)
                    setTimeout(done, ms);
            });
        }

        async function stepOrPause() {
            try {
                await step();
                await askResult();
                me.trouble = null;
                me.failures = 0;
                return me.wish ? 0 : pauseFor(me, now(), Math.random());
            } catch (error) {
                if (error instanceof Later) {
                    me.trouble = error.text;
                    return error.pauseMs;
                }
                if (!(error instanceof shop.Lost))
                    throw error;
                me.trouble = 'couponOffline';
                me.failures += 1;
                return backoff(me.failures, Math.random());
            }
        }

        async function run() {
            for (;;) {
                const pause = await stepOrPause();
                askedAt = Date.now();
                onChange(me);
                await rest(pause);
            }
        }

        run();
        return {
            now,
            /** The page is visible again, or the network is back. */
            wake() {
                eventAskedAt = 0;
                if (Date.now() - askedAt > WAKE_AFTER_MS)
                    wakeUp();
            },
            /** The person's action: enter, leave, or retry what has failed. */
            want(wish) {
                me.note = null;
                if (wish === 'again')
                    me.ending = null;
                else
                    me.wish = wish;
                wakeUp();
            },
        };
    }

    Object.assign(shop, { followCoupon: follow });
}(window.shop));
