/*
 * The seats of a show as the map needs them: their positions, keyboard navigation, and their states for the viewer.
 * No requests and no display. Tests load it by `require`.
 */
(function (root) {
    'use strict';

    const LONGEST_LINE = 60; // seats; a longer row is drawn in several lines
    const WRAPPED_LINE = 40;
    const BEND = 1.5 / 40; // how much closer to the stage the ends of the longest line are, for each of its seats
    const TITLE = 2.4;
    const MARGIN = 2;

    /** The seats in lines, in the order of the plan: sections one after the other, a line for each row. */
    function linesOf(seats) {
        const sections = new Map();
        seats.forEach((seat, index) => {
            if (!sections.has(seat.section))
                sections.set(seat.section, new Map());
            const rows = sections.get(seat.section);
            if (!rows.has(seat.row))
                rows.set(seat.row, []);
            rows.get(seat.row).push(index);
        });
        return [...sections].map(([name, rows]) => ({
            name,
            lines: [...rows].flatMap(([row, all]) => wrapped(all).map((line) => ({ section: name, row, seats: line }))),
        }));
    }

    function wrapped(all) {
        if (all.length <= LONGEST_LINE)
            return [all];
        return Array.from({ length: Math.ceil(all.length / WRAPPED_LINE) },
            (_, part) => all.slice(part * WRAPPED_LINE, (part + 1) * WRAPPED_LINE));
    }

    /** The positions of everything; a seat takes 1 × 1, the stage is above. Each line is bent around it. */
    function arrange(seats) {
        const sections = linesOf(seats);
        const longest = Math.max(1, ...sections.flatMap(({ lines }) => lines.map((line) => line.seats.length)));
        const width = longest + 2 * MARGIN;
        const bent = (x) => -BEND * longest * ((x - width / 2) / (longest / 2)) ** 2;
        const places = [];
        const lines = [];
        let y = 4;
        for (const section of sections) {
            section.x = width / 2;
            section.y = y + TITLE / 2;
            y += TITLE;
            for (const line of section.lines) {
                const left = (width - line.seats.length) / 2;
                line.number = lines.push(line) - 1;
                line.seats.forEach((index, column) => {
                    const x = left + column + 0.5;
                    places[index] = { x, y: y + 0.5 + bent(x), line: line.number, column };
                });
                line.labels = [left - 0.8, left + line.seats.length + 0.8]
                    .map((x) => ({ x, y: y + 0.5 + bent(x) }));
                y += 1;
            }
        }
        return { width, height: y + 1, sections, lines, places };
    }

    /** The seat of a line nearest to `x`. */
    function nearestIn(plan, line, x) {
        const { seats } = plan.lines[line];
        const first = plan.places[seats[0]].x;
        return seats[Math.min(seats.length - 1, Math.max(0, Math.round(x - first)))];
    }

    function sectionLine(plan, line, step) {
        const at = plan.sections.findIndex(({ lines }) => lines.includes(plan.lines[line])) + step;
        return plan.sections[Math.min(plan.sections.length - 1, Math.max(0, at))].lines[0].number;
    }

    /** The seat that a key moves to from a seat; undefined if the key does not move. */
    function move(plan, index, key) {
        const { line, column, x } = plan.places[index];
        const { seats } = plan.lines[line];
        const last = plan.lines.length - 1;
        const at = (number) => nearestIn(plan, Math.min(last, Math.max(0, number)), x);
        switch (key) {
        case 'ArrowLeft': return seats[Math.max(0, column - 1)];
        case 'ArrowRight': return seats[Math.min(seats.length - 1, column + 1)];
        case 'ArrowUp': return at(line - 1);
        case 'ArrowDown': return at(line + 1);
        case 'Home': return seats[0];
        case 'End': return seats[seats.length - 1];
        case 'PageUp': return at(sectionLine(plan, line, -1));
        case 'PageDown': return at(sectionLine(plan, line, 1));
        case 'Control+Home': return plan.lines[0].seats[0];
        case 'Control+End': return plan.lines[last].seats[plan.lines[last].seats.length - 1];
        default: return undefined;
        }
    }

    /** The seat at a point of the drawing, undefined if there is none. */
    function seatAt(plan, x, y) {
        const found = plan.places.findIndex((place) => Math.abs(place.x - x) <= 0.5 && Math.abs(place.y - y) <= 0.5);
        return found < 0 ? undefined : found;
    }

    /** The state of a seat for the viewer. `wished` and `held` are sets of the viewer's seats. */
    function faceOf(seat, wished, held) {
        if (held.has(seat.id))
            return wished.has(seat.id) ? 'KEPT' : 'LEAVING';
        if (seat.mine)
            return 'ORDERED';
        if (seat.status !== 'AVAILABLE')
            return seat.status;
        return wished.has(seat.id) ? 'CHOSEN' : 'AVAILABLE';
    }

    /** Whether all but the states of two seats is equal. */
    function isSameSeat(before, after) {
        return ['id', 'section', 'row', 'number'].every((name) => before[name] === after[name]) &&
            before.price.amount === after.price.amount && before.price.currency === after.price.currency;
    }

    /**
     * Whether both maps have the same plan, so that only states can differ. The version is not sufficient: after a failover
     * PostgreSQL may give the number of a lost version to another plan.
     */
    function isSamePlan(before, after) {
        return before !== null && before.version === after.version && before.seats.length === after.seats.length &&
            before.seats.every((seat, index) => isSameSeat(seat, after.seats[index]));
    }

    /** Those of `wished` that are now taken by others, according to the map. */
    function lostOf(seats, wished, held) {
        return seats.filter((seat) => wished.has(seat.id) && !held.has(seat.id) && !seat.mine &&
            seat.status !== 'AVAILABLE');
    }

    /** The time until the map is read again, in ms. */
    function pauseFor({ hidden, looksHidden, failures, retryAfter }, random) {
        const spread = 1 + random / 4;
        if (retryAfter > 0)
            return retryAfter * 1000 * spread;
        if (failures > 0)
            return Math.min(15000, 1000 * 2 ** Math.min(failures, 5)) * spread;
        return hidden ? Math.min(60000, 5000 * 2 ** Math.min(looksHidden, 4)) * spread : 1500 * spread;
    }

    /** Time left, in ms, as m:ss. */
    function clockText(ms) {
        const seconds = Math.max(0, Math.ceil(ms / 1000));
        return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
    }

    const plans = { arrange, move, seatAt, faceOf, isSamePlan, lostOf, pauseFor, clockText };
    if (typeof module === 'undefined')
        root.shop.seatPlan = plans;
    else
        module.exports = plans;
}(globalThis));
