/*
 * The drawing of a seat map: an SVG that is an ARIA grid, in a box that scrolls. A seat is redrawn only if it has
 * changed. Panning is the box's own scrolling, without scripts; zooming changes the size of the drawing.
 * seat-plan.js comes before this.
 */
(function (shop) {
    'use strict';

    const SVG = 'http://www.w3.org/2000/svg';
    const CHECK = 'M-.22.08-.07.23.23-.08.16-.15-.07.09-.15.01z';
    const SQUARE = 'M-.36-.36H.36V.36H-.36z';
    const CIRCLE = 'M-.4 0a.4.4 0 1 0 .8 0a.4.4 0 1 0-.8 0z';
    const DIAMOND = 'M0-.4.4 0 0 .4-.4 0z';
    // The shapes of the faces, in addition to their colours.
    const SHAPES = {
        AVAILABLE: SQUARE,
        CHOSEN: SQUARE + CHECK,
        KEPT: CIRCLE + CHECK,
        LEAVING: CIRCLE,
        ORDERED: CIRCLE + CHECK,
        HELD: `${DIAMOND}M-.27-.13.13.27M-.13-.27.27.13`,
        SOLD: 'M-.2-.2.2.2M.2-.2-.2.2',
    };
    // Digits as strokes: a browser would take long to lay out a thousand texts.
    const DIGITS = ['M0 0H1V2H0z', 'M.2.2.6 0V2', 'M0 0H1V1H0V2H1', 'M0 0H1V2H0M.2 1H1', 'M0 0V1H1M1 0V2',
        'M1 0H0V1H1V2H0', 'M1 0H0V2H1V1H0', 'M0 0H1V2', 'M0 0H1V2H0zM0 1H1', 'M1 1H0V0H1V2H0'];
    const DIGIT = 0.15; // width; the height is twice that
    const FREE = ['AVAILABLE', 'CHOSEN', 'KEPT', 'LEAVING'];
    const FINGER_PX = 24; // the smallest target for a finger, by WCAG 2.2
    const MOUSE_PX = 12;
    const NEAR_PX = 20; // the size from which numbers are legible
    const REACH_PX = 36; // the size to which a tap on the overview zooms
    const LARGEST_PX = 64;
    const WHOLE_PX = 40; // the largest size in a small map shown in full
    const STEP = 1.5;
    const DRAG_PX = 6;

    function draw(name, attributes, ...children) {
        const made = document.createElementNS(SVG, name);
        Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
        made.append(...children);
        return made;
    }

    /** A small picture of a face, for the legend. */
    function sample(face) {
        return draw('svg', { viewBox: '-.6 -.6 1.2 1.2', 'aria-hidden': 'true', class: 'sample' },
            draw('path', { 'class': 'seat', 'data-face': face, 'd': SHAPES[face] }));
    }

    /** A number centred on a point, as a path; empty for anything but a short number. */
    function numberPath(number, { x, y }) {
        if (!/^\d{1,3}$/.test(number))
            return '';
        const step = DIGIT * 1.6;
        const left = x - (step * (number.length - 1) + DIGIT) / 2;
        return [...number].map((digit, at) => scaled(DIGITS[digit], left + at * step, y - DIGIT)).join('');
    }

    /** A digit's path (of M, H, V, z and pairs of numbers), moved. */
    function scaled(path, left, top) {
        const place = (value, offset) => (Number(value) * DIGIT + offset).toFixed(3);
        return path.replace(/([HV])([\d.]+)|([M ]?)(\.?\d)[ ]?(\.?\d)/g, (all, line, value, move, x, y) => (line ?
            line + place(value, line === 'H' ? left : top) : `${move}${place(x, left)} ${place(y, top)} `));
    }

    /**
     * A map in the element `box`. `on.choose(index)` is called for a seat that was clicked, tapped or chosen by key;
     * words.seat(index, face), words.section(name), words.row(line) and words.stage() give the labels.
     */
    function SeatMap(box, on, words) {
        const { seatPlan } = shop;
        let plan = null;
        let svg = null;
        let stage = null;
        let drawn = []; // {path, number, face} of each seat
        let numbers = []; // the path of each line
        let titles = [];
        let current = 0; // the seat with the keyboard focus
        let pixels = 0; // size of a seat
        let pointer = 'touch';
        let whole = true; // fitted to the width of the box

        const fitting = () => Math.min(WHOLE_PX, Math.max(4, box.clientWidth / plan.width));

        /** Sizes the drawing so that its point `at`, {x, y, left, top}, stays at that place of the box. */
        function resize(size, at) {
            pixels = Math.min(LARGEST_PX, Math.max(fitting(), size));
            whole = pixels <= fitting() * 1.01;
            svg.setAttribute('width', plan.width * pixels);
            svg.setAttribute('height', plan.height * pixels);
            svg.classList.toggle('near', pixels >= NEAR_PX);
            if (at)
                box.scrollTo({ left: at.x * pixels - at.left, top: at.y * pixels - at.top, behavior: 'instant' });
            on.zoomed(whole, pixels >= LARGEST_PX);
        }

        /** The point of the drawing at a place of the window. */
        function pointAt(clientX, clientY) {
            const frame = box.getBoundingClientRect();
            const drawing = svg.getBoundingClientRect();
            return {
                x: (clientX - drawing.left) / pixels,
                y: (clientY - drawing.top) / pixels,
                left: clientX - frame.left - box.clientLeft,
                top: clientY - frame.top - box.clientTop,
            };
        }

        function middle() {
            const frame = box.getBoundingClientRect();
            return pointAt(frame.left + box.clientLeft + box.clientWidth / 2,
                frame.top + box.clientTop + box.clientHeight / 2);
        }

        function zoom(factor, at = middle()) {
            resize(pixels * factor, at);
        }

        /** Centres a seat, large enough for a finger. */
        function show(index, least = REACH_PX) {
            const { x, y } = plan.places[index];
            resize(Math.max(pixels, least), { x, y, left: box.clientWidth / 2, top: box.clientHeight / 2 });
        }

        /** Scrolls no further than needed for a seat and its surroundings to be visible. */
        function reveal(index) {
            const { x, y } = plan.places[index];
            const margin = Math.min(2 * pixels, box.clientWidth / 4);
            const into = (position, from, length) => Math.min(Math.max(from, position + margin - length),
                position - margin);
            box.scrollTo({
                left: into(x * pixels, box.scrollLeft, box.clientWidth),
                top: into(y * pixels, box.scrollTop, box.clientHeight),
                behavior: 'instant',
            });
            svg.scrollIntoView({ block: 'nearest', behavior: 'instant' });
        }

        function setCurrent(index) {
            drawn[current].path.setAttribute('tabindex', '-1');
            current = index;
            drawn[current].path.setAttribute('tabindex', '0');
        }

        function say(index) {
            const { path, face } = drawn[index];
            path.setAttribute('aria-label', words.seat(index, face));
        }

        function setFace(index, face) {
            const seat = drawn[index];
            if (seat.face === face)
                return false;
            seat.face = face;
            seat.path.setAttribute('data-face', face);
            seat.path.setAttribute('d', SHAPES[face]);
            seat.path.setAttribute('aria-selected', String(face === 'CHOSEN' || face === 'KEPT'));
            seat.path.setAttribute('aria-disabled', String(!FREE.includes(face)));
            say(index);
            return true;
        }

        /** Updates the faces of the seats; redraws only those that change, and the numbers of their lines. */
        function update(faceOf) {
            const changed = new Set();
            drawn.forEach((seat, index) => setFace(index, faceOf(index)) && changed.add(plan.places[index].line));
            changed.forEach((line) => numbers[line].setAttribute('d', plan.lines[line].seats
                .filter((index) => drawn[index].face === 'AVAILABLE')
                .map((index) => numberPath(drawn[index].number, plan.places[index])).join('')));
        }

        function drawSeat(seat, index) {
            const { x, y } = plan.places[index];
            const path = draw('path', {
                'class': 'seat', 'role': 'gridcell', 'tabindex': '-1', 'data-seat': seat.id,
                'transform': `translate(${x.toFixed(2)} ${y.toFixed(2)})`,
            });
            drawn[index] = { path, number: seat.number, face: null };
            return path;
        }

        function drawLine(line, seats) {
            const labels = line.labels.map(({ x, y }) => draw('text', {
                'class': 'label', 'aria-hidden': 'true', 'x': x.toFixed(2), 'y': y.toFixed(2),
            }, line.row));
            return draw('g', { role: 'row' }, ...labels, ...line.seats.map((index) => drawSeat(seats[index], index)));
        }

        /** Draws a plan; the faces of its seats come by update(). */
        function build(seats) {
            const id = drawn[current] ? drawn[current].path.dataset.seat : '';
            plan = seatPlan.arrange(seats);
            drawn = [];
            stage = draw('text', { class: 'stage-name', x: plan.width / 2, y: 1.5 });
            titles = [];
            const groups = plan.sections.map((section) => {
                const title = draw('text', { 'class': 'title', 'aria-hidden': 'true', 'x': section.x, 'y': section.y });
                titles.push({ title, section });
                section.group = draw('g', { role: 'rowgroup' }, title,
                    ...section.lines.map((line) => drawLine(line, seats)));
                return section.group;
            });
            const bow = `M${plan.width * 0.3} .6H${plan.width * 0.7}L${plan.width * 0.66} 2.4H${plan.width * 0.34}z`;
            numbers = plan.lines.map(() => draw('path', {}));
            svg = draw('svg', {
                'role': 'grid', 'aria-multiselectable': 'true', 'aria-describedby': 'keys',
                'viewBox': `0 0 ${plan.width} ${plan.height}`,
            }, draw('g', { 'aria-hidden': 'true' }, draw('path', { class: 'stage', d: bow }), stage), ...groups,
            draw('g', { 'class': 'numbers', 'aria-hidden': 'true' }, ...numbers));
            box.textContent = '';
            box.append(svg);
            current = Math.max(0, seats.findIndex((seat) => seat.id === id));
            setCurrent(current);
            translate();
            resize(whole ? 0 : pixels);
        }

        /** Updates all labels after a change of language. */
        function translate() {
            svg.setAttribute('aria-label', words.map());
            stage.textContent = words.stage();
            titles.forEach(({ title, section }) => {
                title.textContent = words.section(section);
                section.group.setAttribute('aria-label', words.section(section));
            });
            drawn.forEach((seat, index) => seat.face && say(index));
        }

        function clicked(event) {
            const { x, y } = pointAt(event.clientX, event.clientY);
            const index = seatPlan.seatAt(plan, x, y);
            if (pixels < (pointer === 'mouse' ? MOUSE_PX : FINGER_PX) && pixels < LARGEST_PX) {
                resize(REACH_PX, { x, y, left: box.clientWidth / 2, top: box.clientHeight / 2 });
            } else if (index !== undefined) {
                setCurrent(index);
                on.choose(index);
            }
        }

        function pressed(event) {
            if (event.altKey || event.metaKey || !event.target.closest('.seat'))
                return;
            const key = (event.ctrlKey ? 'Control+' : '') + event.key;
            const next = seatPlan.move(plan, current, key);
            if (next !== undefined) {
                setCurrent(next);
                reveal(next);
                drawn[next].path.focus({ preventScroll: true });
            } else if (key === 'Enter' || key === ' ') {
                on.choose(current);
            } else if (key === '+' || key === '-') {
                zoom(key === '+' ? STEP : 1 / STEP);
                reveal(current);
            } else {
                return;
            }
            event.preventDefault();
        }

        /** Two fingers: during the gesture only a transform changes, which is cheap; the size follows at the end. */
        function pinching() {
            let pinch = null;
            const span = ([a, b]) => Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY);
            box.addEventListener('touchstart', (event) => {
                if (event.touches.length !== 2 || !svg)
                    return;
                const [a, b] = event.touches;
                const at = pointAt((a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2);
                pinch = { span: span(event.touches), at, factor: 1 };
                svg.style.willChange = 'transform';
                svg.style.transformOrigin = `${at.x * pixels}px ${at.y * pixels}px`;
            }, { passive: true });
            box.addEventListener('touchmove', (event) => {
                if (!pinch || event.touches.length !== 2)
                    return;
                event.preventDefault();
                const wanted = span(event.touches) / pinch.span;
                pinch.factor = Math.min(LARGEST_PX / pixels, Math.max(fitting() / pixels, wanted));
                svg.style.transform = `scale(${pinch.factor})`;
            }, { passive: false });
            const end = () => {
                if (!pinch)
                    return;
                svg.style.transform = svg.style.willChange = '';
                zoom(pinch.factor, pinch.at);
                pinch = null;
            };
            box.addEventListener('touchend', end);
            box.addEventListener('touchcancel', end);
        }

        /** A mouse drags the map; a drag is not a click. */
        function dragging() {
            let from = null;
            let dragged = false;
            box.addEventListener('pointerdown', (event) => {
                dragged = false;
                // Not every browser sets it for a click.
                pointer = event.pointerType;
                if (event.pointerType === 'mouse' && event.button === 0)
                    from = { x: event.clientX, y: event.clientY, left: box.scrollLeft, top: box.scrollTop };
            });
            window.addEventListener('pointermove', (event) => {
                if (!from)
                    return;
                const [dx, dy] = [event.clientX - from.x, event.clientY - from.y];
                dragged = dragged || Math.hypot(dx, dy) > DRAG_PX;
                if (dragged)
                    box.scrollTo({ left: from.left - dx, top: from.top - dy, behavior: 'instant' });
            });
            window.addEventListener('pointerup', () => { from = null; });
            window.addEventListener('pointercancel', () => { from = null; });
            box.addEventListener('click', (event) => dragged || !svg || clicked(event));
        }

        pinching();
        dragging();
        box.addEventListener('keydown', pressed);
        box.addEventListener('focusin', (event) => {
            const index = drawn.findIndex(({ path }) => path === event.target);
            if (index >= 0 && index !== current)
                setCurrent(index);
        });
        box.addEventListener('wheel', (event) => {
            if (!event.ctrlKey || !svg)
                return;
            event.preventDefault();
            zoom(event.deltaY < 0 ? STEP : 1 / STEP, pointAt(event.clientX, event.clientY));
        }, { passive: false });
        new ResizeObserver(() => svg && resize(whole ? 0 : pixels)).observe(box);

        return {
            build,
            translate,
            show,
            update,
            /** Marks the lost seats, until it is called again. */
            mark(indices) {
                svg.querySelectorAll('.lost').forEach((path) => path.classList.remove('lost'));
                indices.forEach((index) => drawn[index].path.classList.add('lost'));
            },
            nearer: () => zoom(STEP),
            farther: () => zoom(1 / STEP),
            whole: () => resize(0, middle()),
        };
    }

    Object.assign(shop, { SeatMap, seatSample: sample });
}(window.shop));
