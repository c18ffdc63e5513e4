/*
 * The curves of one queue, drawn by uPlot.
 */
import { h, say } from './dom.mjs';
import { clock, count, milliseconds, rate, span } from './figures.mjs';

const HEIGHT = 170;
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
/** Each: its lines are columns of figures.mjs, in a colour of console.css; `least`: the smallest maximum of the scale. */
const CHARTS = [
    { title: 'People waiting', format: count, least: 10, lines: [['waiting', 'waiting', '--line-1', true]] },
    {
        title: 'People a second', format: rate, least: 2,
        lines: [['entered', 'come', '--line-4'], ['admitted', 'admitted', '--line-1'], ['consumed', 'done', '--line-2'],
            ['rateInForce', 'rate in force', '--line-3', false, [6, 4]]],
    },
    { title: 'People inside', format: count, least: 10, lines: [['ready', 'have their turn', '--line-1', true], ['claimed', 'order right now', '--line-3']] },
    { title: 'Time that an order takes', format: milliseconds, least: 20, lines: [['p50', 'P50', '--line-2'], ['p95', 'P95', '--line-3'], ['p99', 'P99', '--line-5']] },
    { title: 'Wait of those admitted last', format: span, least: 10, lines: [['promised', 'promised', '--line-4', false, [6, 4]], ['actual', 'it took', '--line-1']] },
];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function axis(more) {
    return { stroke: colour('--soft'), grid: { stroke: colour('--grid'), width: 1 }, ticks: { stroke: colour('--grid'), width: 1 }, font: '12px system-ui, sans-serif', ...more };
}

const twoDigits = (number) => String(number).padStart(2, '0');

/** Labels of the time axis: with seconds if they are close together, with the day if they are days apart. */
function moments(self, splits, axisIndex, space, increment) {
    return splits.map((second) => {
        const at = new Date(second * 1000);
        const time = `${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`;
        if (increment >= 86400 || (increment >= 3600 && at.getHours() === 0))
            return `${at.getDate()} ${at.toLocaleString('en-GB', { month: 'short' })}`;
        return increment < 60 ? `${time}:${twoDigits(at.getSeconds())}` : time;
    });
}

function optionsOf(chart, width, onCursor) {
    return {
        width,
        height: HEIGHT,
        cursor: { sync: { key: 'sluice' }, drag: { x: false, y: false }, points: { size: 6 } },
        legend: { show: false },
        hooks: { setCursor: [onCursor] },
        scales: { x: { time: true }, y: { range: (self, least, most) => [0, Math.max(most * 1.08, chart.least)] } },
        padding: [8, 26, 0, 0],
        axes: [axis({ values: moments, space: 72, incrs: STEPS_S }), axis({ size: 58, space: 34, values: (self, splits) => splits.map(chart.format) })],
        series: [
            {},
            ...chart.lines.map(([, label, name, filled, dash]) => ({
                label,
                stroke: colour(name),
                width: 2,
                dash,
                fill: filled ? `${colour(name)}22` : undefined,
                points: { show: false },
            })),
        ],
    };
}

const lastKnown = (values) => values.filter((value) => value !== null && value !== undefined).pop() ?? null;

/** The last value of each line, for screen readers. */
function spoken(chart, columns) {
    return `${chart.title}: ${chart.lines.map(([name, label]) => `${label} ${chart.format(lastKnown(columns[name]))}`).join(', ')}`;
}

function legendOf(chart) {
    return h('p', { class: 'legend', 'aria-hidden': 'true' }, h('span', { class: 'moment' }), chart.lines.map(([, label, name]) => h('span', {},
        h('span', { class: 'swatch', 'data-line': name.slice(2) }), `${label} `, h('b'))));
}

export class Charts {
    constructor(place) {
        this.place = place;
        this.drawn = [];
        this.columns = null;
        this.observer = new ResizeObserver(() => this.fit());
        this.observer.observe(place);
    }

    /** Draws these columns, reusing the existing chart if possible. */
    draw(columns) {
        this.columns = columns;
        if (this.drawn.length === 0)
            this.build();
        this.drawn.forEach((one) => {
            const { chart, plot, figure, none } = one;
            none.hidden = chart.lines.some(([name]) => columns[name].some((value) => value !== null));
            plot.setData([columns.at, ...chart.lines.map(([name]) => columns[name])]);
            figure.setAttribute('aria-label', spoken(chart, columns));
            this.tell(one);
        });
    }

    /** The values under the pointer, else the last ones. */
    tell({ chart, plot, legend }) {
        const at = plot.cursor.idx;
        const pointed = at !== null && at !== undefined && this.columns.at[at] !== undefined;
        say(legend.firstChild, pointed ? clock(this.columns.at[at] * 1000) : 'now');
        chart.lines.forEach(([name], i) => {
            const value = pointed ? this.columns[name][at] : lastKnown(this.columns[name]);
            say(legend.children[i + 1].lastChild, chart.format(value));
        });
    }

    build() {
        const frames = CHARTS.map((chart) => {
            const area = h('div', { class: 'plot' });
            const none = h('p', { class: 'none', hidden: true }, 'No data yet.');
            const legend = legendOf(chart);
            const figure = h('figure', { role: 'img', class: 'chart' }, h('figcaption', {}, chart.title), legend, area, none);
            return { chart, area, none, legend, figure };
        });
        /* All of them first: the width of one depends on their number. */
        this.place.append(...frames.map((frame) => frame.figure));
        this.drawn = frames.map((frame) => {
            const one = { ...frame };
            const onCursor = () => one.plot && this.columns && this.tell(one);
            one.plot = new globalThis.uPlot(optionsOf(frame.chart, frame.area.clientWidth || 300, onCursor), [[], ...frame.chart.lines.map(() => [])], frame.area);
            return one;
        });
    }

    fit() {
        this.drawn.forEach(({ plot, area }) => {
            if (area.clientWidth > 0 && area.clientWidth !== plot.width)
                plot.setSize({ width: area.clientWidth, height: HEIGHT });
        });
    }

    /** Redraws after a change of colours. */
    renew() {
        this.drawn.forEach(({ plot, figure }) => {
            plot.destroy();
            figure.remove();
        });
        this.drawn = [];
        if (this.columns)
            this.draw(this.columns);
    }
}
