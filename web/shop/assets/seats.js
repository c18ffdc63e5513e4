/*
 * The seat map page: the map, the list beside it, the chosen and held seats, and messages. The files
 * seat-*.js come before this.
 */
(function (shop) {
    'use strict';

    const { text } = shop;
    const SOON_MS = 60000;
    const LEGEND = ['AVAILABLE', 'CHOSEN', 'KEPT', 'HELD', 'SOLD'];
    const MOST_DRAWN = 5000; // seats; with more, only the list is shown
    const at = (id) => document.getElementById(id);
    const show = new URLSearchParams(location.search).get('show') || 'sample-show';

    function element(name, properties = {}, ...children) {
        const made = Object.assign(document.createElement(name), properties);
        made.append(...children);
        return made;
    }

    const sectionName = (name) => (name ? text('seatsSection', { section: name }) : text('seatsNoSection'));

    const prices = new Map();

    /** A formatted price, cached: formatting is slow, and there are few different ones. */
    function priceOf({ price }) {
        if (!prices.has(price.amount))
            prices.set(price.amount, shop.money(price));
        return prices.get(price.amount);
    }

    const namesOf = (seats) => seats.map(shop.seatName).join(text('seatsAnd'));

    function total(seats) {
        return { amount: seats.reduce((sum, seat) => sum + seat.price.amount, 0), currency: seats[0].price.currency };
    }

    /** Messages, below the buttons that they are about; repeated after a change of language. */
    function makeNotice() {
        let said = () => {};
        return {
            say(name, parameters = () => ({}), { action, reference } = {}) {
                said = () => {
                    at('notice-text').textContent = text(name, parameters());
                    at('notice-reference').textContent = reference ? text('reference', { id: reference }) : '';
                };
                said();
                at('notice').dataset.name = name;
                at('notice').dataset.tone = CALM.includes(name) ? 'calm' : 'alert';
                at('notice-actions').querySelectorAll('[data-action]').forEach((choice) => {
                    choice.hidden = choice.dataset.action !== action;
                });
                at('notice').hidden = false;
            },
            hide() {
                said = () => {};
                at('notice').hidden = true;
                at('notice-text').textContent = '';
            },
            translate: () => said(),
        };
    }

    const CALM = ['seatsHeld', 'seatsGivenBack', 'seatsSoon', 'seatsBusy', 'seatsElsewhere'];

    /** Choosing by section, row and seat, as an alternative to the map. */
    function makeList(way, choose) {
        const [sections, rows, seats] = [at('list-section'), at('list-row'), at('list-seat')];
        const free = (seat, index) => way.faceOf(index) === 'AVAILABLE';
        const option = (value, words) => element('option', { value, textContent: words });

        function fill(select, options) {
            const before = select.value;
            select.textContent = '';
            select.append(...options);
            if ([...select.options].some(({ value }) => value === before))
                select.value = before;
        }

        /** Counts the free seats by the result of `keyOf`, in the plan's order. */
        function count(chosen, keyOf) {
            const counts = new Map();
            way.seats().forEach((seat, index) => chosen(seat) &&
                counts.set(keyOf(seat), (counts.get(keyOf(seat)) || 0) + (free(seat, index) ? 1 : 0)));
            return [...counts];
        }

        const isSection = (seat) => seat.section === sections.value;
        const isRow = (seat) => isSection(seat) && seat.row === rows.value;

        function fillSeats() {
            fill(seats, way.seats().filter((seat, index) => isRow(seat) && free(seat, index)).map((seat) =>
                option(seat.id, text('seatsOption', { seat: seat.number || seat.id, price: priceOf(seat) }))));
            at('list-add').disabled = seats.options.length === 0;
        }
        function fillRows() {
            fill(rows, count(isSection, (seat) => seat.row).map(([row, left]) =>
                option(row, text('seatsFree', { name: row ? text('seatsRow', { row }) : '–', left }))));
            fillSeats();
        }
        function fillSections() {
            fill(sections, count(() => true, (seat) => seat.section).map(([name, left]) =>
                option(name, text('seatsFree', { name: sectionName(name), left }))));
            fillRows();
        }

        sections.addEventListener('change', fillRows);
        rows.addEventListener('change', fillSeats);
        at('list-form').addEventListener('submit', (event) => {
            event.preventDefault();
            if (seats.value)
                choose(seats.value);
            fillSeats();
        });
        at('list').addEventListener('toggle', () => at('list').open && fillSections());
        // Not while a person is choosing: a list that changes under the pointer is worse than an old one.
        return () => at('list').open && !at('list-form').contains(document.activeElement) && fillSections();
    }

    /** The page of one show. */
    function begin(info, concert) {
        const notice = makeNotice();
        let running = false;
        let again = null;
        let soonSaid = false;
        let lost = [];
        const way = shop.SeatWay(info, { map: onMap, notice: onNotice, link: onLink });
        const faceWords = (face) => text(`seats${face}`);
        const map = shop.SeatMap(at('map'), {
            choose: (index) => choose(way.seats()[index].id),
            zoomed(isWhole, isNearest) {
                at('whole').disabled = at('farther').disabled = isWhole;
                at('nearer').disabled = isNearest;
            },
        }, {
            map: () => text('seatsMap'),
            stage: () => text('seatsStage'),
            section: (section) => text('seatsSectionPrice',
                { section: sectionName(section.name), price: priceRange(section) }),
            seat(index, face) {
                const seat = way.seats()[index];
                return text('seatsLabel', { seat: shop.seatName(seat), price: priceOf(seat), state: faceWords(face) });
            },
        });
        const refreshList = makeList(way, choose);

        function priceRange(section) {
            const amounts = section.lines.flatMap((line) => line.seats).map((index) => way.seats()[index].price.amount);
            const [least, highest] = amounts.reduce(([a, b], c) => [Math.min(a, c), Math.max(b, c)], [Infinity, 0]);
            const money = (amount) => shop.money({ amount, currency: info.currency });
            return least === highest ? money(least) : `${money(least)} – ${money(highest)}`;
        }

        function indexOf(ids) {
            return way.seats().flatMap((seat, index) => (ids.includes(seat.id) ? [index] : []));
        }

        function onMap(isNew) {
            if (!way.seats().length) {
                face('unknown');
                return;
            }
            face('page');
            const isDrawn = way.seats().length <= MOST_DRAWN;
            at('chart').hidden = !isDrawn;
            if (!isDrawn)
                at('list').open = true;
            if (isNew && isDrawn)
                map.build(way.seats());
            if (isDrawn) {
                map.update(way.faceOf);
                map.mark(indexOf(lost));
            }
            refreshList();
            drawPanel();
        }

        function onNotice(name, { seats = [], lost: areLost, kept, ...more }, options = {}) {
            lost = areLost ? seats.map((seat) => seat.id) : lost;
            const tail = areLost && kept ? () => text('seatsKeptRest') : () => '';
            notice.say(name, () => ({ ...more, seats: namesOf(seats), count: seats.length, rest: tail() }), options);
        }

        function onLink(state) {
            at('link').hidden = state === 'ok';
            at('link').dataset.state = state;
            at('link').textContent = state === 'ok' ? '' :
                text(state === 'lost' ? 'seatsOffline' : 'seatsHoldsUnknown');
        }

        function choose(id) {
            const [seat] = way.seatsOf([id]);
            const [index] = indexOf([id]);
            const was = way.faceOf(index);
            if (!['AVAILABLE', 'CHOSEN', 'KEPT', 'LEAVING'].includes(was)) {
                onNotice('seatsNotFree', { seats: [seat], state: faceWords(was) });
                return;
            }
            lost = [];
            notice.hide();
            if (!way.toggle(id))
                onNotice('seatsMost', { most: way.most() });
        }

        const isChanged = () => way.wished.size !== way.held().size ||
            [...way.wished].some((id) => !way.held().has(id));

        /** The chosen and held seats, and their buttons. */
        function drawPanel() {
            const chosen = way.seatsOf(way.wished);
            const isHeld = way.held().size > 0;
            const isLeft = way.seats().some((seat) => seat.status === 'AVAILABLE');
            at('chosen-none').hidden = chosen.length > 0;
            at('chosen-none').textContent = text(isLeft || isHeld ? 'seatsNone' : 'seatsSoldOut', { most: way.most() });
            drawChosen(chosen);
            at('sum').hidden = chosen.length === 0;
            at('sum-count').textContent = text('seatsCount', { count: chosen.length, most: way.most() });
            at('sum-total').textContent = chosen.length ? shop.money(total(chosen)) : '';
            at('hold').hidden = !chosen.length || !isChanged();
            at('hold').textContent = text(isHeld ? 'seatsChange' : 'seatsHold');
            at('order').hidden = !isHeld || isChanged();
            at('give-back').hidden = !isHeld;
            ['hold', 'order', 'give-back'].forEach((id) => { at(id).disabled = running; });
            drawTime();
        }

        function drawChosen(chosen) {
            const key = JSON.stringify([document.documentElement.lang,
                chosen.map((seat) => [seat.id, way.held().has(seat.id)])]);
            if (at('chosen').dataset.key === key)
                return;
            at('chosen').dataset.key = key;
            const focused = document.activeElement && document.activeElement.dataset.drop;
            at('chosen').replaceChildren(...chosen.map((seat) => element('li', {},
                shop.seatSample(way.held().has(seat.id) ? 'KEPT' : 'CHOSEN'),
                element('span', { className: 'what', textContent: shop.seatName(seat) }),
                element('span', { textContent: priceOf(seat) }),
                dropButton(seat))));
            if (focused)
                (at('chosen').querySelector('button') || at('choose-title')).focus();
        }

        function dropButton(seat) {
            const button = element('button', { type: 'button', className: 'drop', textContent: '×' });
            button.dataset.drop = seat.id;
            button.setAttribute('aria-label', text('seatsDrop', { seat: shop.seatName(seat) }));
            button.addEventListener('click', () => choose(seat.id));
            return button;
        }

        function drawTime() {
            const left = way.left();
            at('time').hidden = left === null;
            if (left === null) {
                soonSaid = false;
                return;
            }
            at('time-left').textContent = shop.seatPlan.clockText(left);
            at('time').dataset.soon = String(left <= SOON_MS);
            if (left <= SOON_MS && left > 0 && !soonSaid && !running) {
                soonSaid = true;
                onNotice('seatsSoon', {});
            }
        }

        async function during(work) {
            if (running)
                return;
            running = true;
            again = work;
            notice.hide();
            drawPanel();
            try {
                await work();
            } finally {
                running = false;
                if (way.seats().length)
                    drawPanel();
            }
        }

        async function order() {
            const made = await way.order();
            if (made)
                location.assign(shop.resultPath(made.id));
        }

        async function lineUp() {
            const refusal = await shop.lineUp((seconds) => onNotice('seatsBusy', { seconds }), info.queue);
            if (refusal)
                onNotice(refusal.text, {}, refusal);
            else
                location.reload();
        }

        function translate() {
            prices.clear();
            drawHead(info, concert);
            at('legend').replaceChildren(...LEGEND.map((name) =>
                element('li', {}, shop.seatSample(name), faceWords(name))));
            notice.translate();
            if (!way.seats().length)
                return;
            if (way.seats().length <= MOST_DRAWN)
                map.translate();
            drawPanel();
            refreshList();
        }

        at('hold').addEventListener('click', () => during(way.hold));
        at('give-back').addEventListener('click', () => during(way.giveBack));
        at('order').addEventListener('click', () => during(order));
        at('nearer').addEventListener('click', map.nearer);
        at('farther').addEventListener('click', map.farther);
        at('whole').addEventListener('click', map.whole);
        at('notice-actions').querySelector('[data-action=retry]').addEventListener('click', () => during(again || order));
        at('notice-actions').querySelector('[data-action=lineUp]').addEventListener('click', () => during(lineUp));
        document.addEventListener('visibilitychange', () => way.setHidden(document.hidden));
        window.addEventListener('online', () => way.setHidden(document.hidden));
        // Restored as it was left: a request in flight then may never finish.
        window.addEventListener('pageshow', (event) => event.persisted && location.reload());
        setInterval(drawTime, 250);
        shop.onLanguage(translate);
        translate();
        if (way.isUnsure())
            notice.say('unsure', () => ({}), { action: 'retry' });
        way.look();
    }

    function drawHead(info, concert) {
        at('title').textContent = shop.concertName(concert);
        at('when').textContent = shop.time(info.startsAt);
        at('when').dateTime = info.startsAt;
        at('where').textContent = concert.id === shop.SAMPLE_CONCERT ? text('concertVenue') : concert.venue;
        document.title = text('seatsPage', { name: at('title').textContent });
    }

    function face(name) {
        ['loading', 'page', 'unknown', 'unreachable'].forEach((other) => { at(other).hidden = other !== name; });
    }

    /** Fetches the show and its concert, which seldom change. */
    async function load() {
        try {
            const info = await shop.ask(`/v1/shows/${encodeURIComponent(show)}`);
            const concert = info.status === 200 &&
                await shop.ask(`/v1/concerts/${encodeURIComponent(info.body.concert)}`);
            if (info.status === 200 && concert.status === 200)
                begin(info.body, concert.body);
            else
                face(info.status === 404 || info.status === 400 ? 'unknown' : 'unreachable');
        } catch (error) {
            if (!(error instanceof shop.Lost))
                throw error;
            face('unreachable');
        }
    }

    shop.ready.then(() => {
        at('again').addEventListener('click', () => {
            face('loading');
            load();
        });
        document.title = text('seatsPage', { name: text('seatsMap') });
        load();
    });
}(window.shop));
