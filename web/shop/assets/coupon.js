/*
 * The coupon page: shows the state of coupon-way.js, and copies the code. All other scripts come before this.
 */
(function (shop) {
    'use strict';

    const SAMPLE = 'sample-coupon';
    const SAY_PLACE_EVERY_MS = 30000;
    const SAY_AGAIN_MS = 100;
    const { text, count, time } = shop;
    const { faceFor, isOver, stateOf, waitWords, clockText } = shop.decide;
    const at = (id) => document.getElementById(id);
    const faces = Array.from(document.querySelectorAll('[data-face]'));
    const said = { face: null, place: null, placeAt: 0 };
    let way = null;
    let me = null;

    /** Writes the text; hides the element for an empty one. */
    function put(id, words) {
        at(id).hidden = !words;
        if (at(id).textContent !== words)
            at(id).textContent = words;
    }

    function putTime(id, moment, timeStyle) {
        at(id).dateTime = moment;
        put(id, time(moment, timeStyle));
    }

    function nameOf(event) {
        if (event && event.event !== SAMPLE)
            return event.name;
        return text('couponName');
    }

    function waitText() {
        if (me.queueState === 'PAUSED' || me.queueState === 'PRE_OPEN')
            return text(me.queueState === 'PAUSED' ? 'couponPaused' : 'couponLineNotOpen');
        const { name, number } = waitWords(me.wait);
        return text(name, { number: count(number) });
    }

    /** Announces something to screen readers; identical text is announced again. */
    function say(id, words) {
        at(id).textContent = '';
        setTimeout(() => { at(id).textContent = words; }, SAY_AGAIN_MS);
    }

    /** A change of the part is announced immediately, a change of the place now and then. */
    function announce(face) {
        const heading = faces.find((part) => part.dataset.face === face).querySelector('h2').textContent;
        if (said.face !== face) {
            if (said.face && said.face !== 'LOADING')
                say('live', heading);
            Object.assign(said, { face, place: me.place, placeAt: Date.now() });
        } else if (face === 'WAITING' && me.place !== said.place && Date.now() - said.placeAt >= SAY_PLACE_EVERY_MS) {
            say('live', text('couponSayPlace', { place: count(me.place), wait: waitText() }));
            Object.assign(said, { place: me.place, placeAt: Date.now() });
        }
    }

    /** Shows only that part. Moves the focus from a removed button to the new part's heading. */
    function turnTo(face) {
        const next = faces.find((part) => part.dataset.face === face);
        const wasInside = faces.some((part) => part !== next && !part.hidden && part.contains(document.activeElement));
        faces.forEach((part) => { part.hidden = part !== next; });
        document.body.dataset.state = face;
        if (wasInside)
            next.querySelector('h2').focus();
    }

    function drawOpening() {
        const early = me.event && me.event.opensAt && stateOf(me.event, way.now()) === 'PRE_OPEN';
        document.querySelectorAll('.opening').forEach((part) => {
            part.hidden = !early;
            if (early) {
                part.querySelector('.countdown').textContent = clockText(Date.parse(me.event.opensAt) - way.now());
                const opens = time(me.event.opensAt, 'medium');
                part.querySelector('.opens').textContent = text('couponOpensAt', { time: opens });
            }
        });
        put('invite-text', text(early ? 'couponInviteEarly' : 'couponInviteText'));
    }

    function resultText({ issued, lastIssuedAt }) {
        return lastIssuedAt ? text('couponResult', { issued: count(issued), time: time(lastIssuedAt, 'medium') }) :
            text('couponResultNone');
    }

    function drawEvent(face) {
        const { event, result } = me;
        const over = isOver(me, way.now());
        put('name', nameOf(event));
        put('text', !event || event.event === SAMPLE ? text('couponText') : '');
        put('left', event && !over && face !== 'COUPON' ?
            text('couponLeft', { left: count(event.left), coupons: count(event.coupons) }) : '');
        at('result').hidden = !over;
        at('result-link').href = event ? `/v1/coupon-events/${encodeURIComponent(event.event)}/result` : '';
        put('result-text', over && result ? resultText(result) : '');
    }

    function drawTurn() {
        put('doing', me.doing ? text(me.doing) : '');
        document.querySelectorAll('.turn-ends').forEach((part) => {
            part.hidden = !me.tokenEnds;
            part.textContent = me.tokenEnds ? text('couponTurnEnds', { time: time(me.tokenEnds, 'medium') }) : '';
        });
    }

    function drawPlace() {
        put('place', me.place ? count(me.place) : '–');
        put('ahead', me.place ? count(me.place - 1) : '–');
        put('wait', waitText());
    }

    function drawCoupon() {
        if (!me.coupon)
            return;
        put('code', me.coupon.code);
        putTime('issued-at', me.coupon.issuedAt, 'medium');
    }

    function drawFailure() {
        put('failure', me.sentence ? text(me.sentence) : '');
        put('reference', me.reference ? text('reference', { id: me.reference }) : '');
        at('again').hidden = !me.again;
    }

    function drawTitle(face) {
        const name = nameOf(me.event);
        const state = face === 'WAITING' && me.place ? `#${count(me.place)}` : text(`couponTitle${face}`);
        document.title = [state, name, text('brand')].filter(Boolean).join(' – ');
    }

    function draw() {
        if (!way || !me)
            return;
        const face = faceFor(me, way.now());
        drawEvent(face);
        drawOpening();
        drawPlace();
        drawCoupon();
        drawFailure();
        drawTurn();
        put('trouble', me.trouble ? text(me.trouble) : '');
        put('note', me.note && face === 'WAITING' ? text(me.note) : '');
        turnTo(face);
        drawTitle(face);
        announce(face);
    }

    /** Selects the code as with a mouse. */
    function mark(element) {
        const range = document.createRange();
        range.selectNodeContents(element);
        const selection = getSelection();
        selection.removeAllRanges();
        selection.addRange(range);
    }

    async function copy() {
        let done = true;
        try {
            await navigator.clipboard.writeText(me.coupon.code);
        } catch (error) {
            // Old browsers, pages without TLS, and forbidden access.
            mark(at('code'));
            done = document.execCommand('copy');
        }
        say('copied', text(done ? 'couponCopied' : 'couponCopyByHand'));
    }

    function start() {
        const id = new URLSearchParams(location.search).get('event') || SAMPLE;
        way = shop.followCoupon(id, at('proof'), (known) => {
            me = known;
            draw();
        });
        document.addEventListener('click', (event) => {
            const button = event.target.closest('[data-wish]');
            if (button)
                way.want(button.dataset.wish);
        });
        at('copy').addEventListener('click', copy);
        document.addEventListener('visibilitychange', () => document.hidden || way.wake());
        addEventListener('online', way.wake);
        addEventListener('pageshow', (event) => event.persisted && way.wake());
        setInterval(() => me && drawOpening(), 1000);
    }

    shop.ready.then(start);
    shop.onLanguage(() => {
        at('copied').textContent = '';
        draw();
    });
}(window.shop));
