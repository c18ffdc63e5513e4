/*
 * The names of seats and concerts in the page's language. language.js comes before this.
 */
(function (shop) {
    'use strict';

    const { text } = shop;

    Object.assign(shop, {
        SAMPLE_CONCERT: 'sample-concert',
        /** A seat in words. */
        seatName: ({ section, row, number, id }) => [section && text('seatsSection', { section }),
            row && text('seatsRow', { row }),
            text('seatsNumber', { number: number || id })].filter(Boolean).join(text('seatsJoin')),
        /** A concert's title; the sample one is translated. */
        concertName: ({ id, title }) => (id === shop.SAMPLE_CONCERT ? text('concertName') : title),
    });
}(window.shop));
