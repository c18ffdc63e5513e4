/*
 * The concert page: a concert and its dates, each of which leads to its seats. names.js, api.js and
 * order.js come before this.
 */
(function (shop) {
    'use strict';

    const { text } = shop;
    const id = new URLSearchParams(location.search).get('concert') || shop.SAMPLE_CONCERT;
    const at = (name) => document.getElementById(name);
    let concert = null;
    let shows = [];

    function face(name) {
        ['loading', 'page', 'unknown', 'unreachable'].forEach((other) => { at(other).hidden = other !== name; });
    }

    /** Below a date: the number of seats and their prices. */
    function detail(show) {
        if (!show.seats)
            return text('concertNoSeats');
        const [from, to] = [shop.money(show.priceFrom), shop.money(show.priceTo)];
        return text('concertSeats', { seats: shop.count(show.seats), price: from === to ? from : `${from} – ${to}` });
    }

    function row(show) {
        const link = Object.assign(document.createElement('a'), { className: 'row' });
        link.href = `/shop/seats.html?show=${encodeURIComponent(show.id)}`;
        const when = Object.assign(document.createElement('span'), { className: 'what' });
        when.textContent = shop.time(show.startsAt);
        const what = Object.assign(document.createElement('span'), { className: 'detail' });
        what.textContent = detail(show);
        const look = Object.assign(document.createElement('span'), { className: 'look' });
        look.textContent = text('concertLook');
        link.append(when, what, look);
        const item = document.createElement('li');
        item.append(link);
        return item;
    }

    function draw() {
        const own = concert && concert.id !== shop.SAMPLE_CONCERT;
        const name = concert ? shop.concertName(concert) : text('concertName');
        document.title = text('seatsPage', { name });
        if (!concert)
            return;
        at('title').textContent = name;
        at('text').textContent = own ? concert.description : text('concertText');
        at('where').textContent = own ? concert.venue : text('concertVenue');
        at('shows').replaceChildren(...shows.map(row));
        at('no-shows').hidden = shows.length > 0;
    }

    async function ask(path) {
        const answer = await shop.ask(path);
        if (answer.status === 404 || answer.status === 400)
            return null;
        if (answer.status !== 200)
            throw new shop.Lost(`status ${answer.status}`);
        return answer.body;
    }

    async function load() {
        face('loading');
        try {
            concert = await ask(`/v1/concerts/${encodeURIComponent(id)}`);
            const soonest = concert ? concert.shows.slice(0, 20) : [];
            const found = await Promise.all(soonest.map((show) => ask(`/v1/shows/${encodeURIComponent(show.id)}`)));
            shows = found.filter(Boolean);
            face(concert ? 'page' : 'unknown');
            draw();
        } catch (error) {
            if (!(error instanceof shop.Lost))
                throw error;
            face('unreachable');
        }
    }

    shop.ready.then(() => {
        at('again').addEventListener('click', load);
        shop.onLanguage(draw);
        draw();
        load();
    });
}(window.shop));
