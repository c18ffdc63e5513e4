/*
 * The curves of one queue, drawn by uPlot.
 */
import { h } from './dom.mjs';
import { count, milliseconds, rate, span } from './figures.mjs';

const HEIGHT = 170;
const GAP_TEXT = '–';

/** Each: its lines are columns of figures.mjs. Colours are variables of console.css. */
const CHARTS = [
    { title: 'People waiting', format: count, lines: [['waiting', 'waiting', '--line-1', true]] },
    {
        title: 'People a second', format: rate,
        lines: [['entered', 'come', '--line-4'], ['admitted', 'let in', '--line-1'], ['consumed', 'done', '--line-2'],
            ['rateInForce', 'rate in force', '--line-3', false, [6, 4]]],
    },
    { title: 'People inside', format: count, lines: [['ready', 'have their turn', '--line-1', true], ['claimed', 'order right now', '--line-3']] },
    { title: 'Time that an order takes', format: milliseconds, lines: [['p50', 'P50', '--line-2'], ['p95', 'P95', '--line-3'], ['p99', 'P99', '--line-5']] },
    { title: 'Wait of those let in last', format: span, lines: [['promised', 'promised', '--line-4', false, [6, 4]], ['actual', 'it took', '--line-1']] },
];

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function axis(more) {
    return { stroke: colour('--soft'), grid: { stroke: colour('--grid'), width: 1 }, ticks: { stroke: colour('--grid'), width: 1 }, font: '12px system-ui, sans-serif', ...more };
}

const twoDigits = (number) => String(number).padStart(2, '0');

/** Times of the axis: with seconds where they are close together, with the day where they are days apart. */
function moments(self, splits, axisIndex, space, increment) {
    return splits.map((second) => {
        const at = new Date(second * 1000);
        const time = `${twoDigits(at.getHours())}:${twoDigits(at.getMinutes())}`;
        if (increment >= 86400 || (increment >= 3600 && at.getHours() === 0))
            return `${at.getDate()} ${at.toLocaleString('en-GB', { month: 'short' })}`;
        return increment < 60 ? `${time}:${twoDigits(at.getSeconds())}` : time;
    });
}

function optionsOf(chart, width) {
    return {
        width,
        height: HEIGHT,
        cursor: { sync: { key: 'sluice' }, drag: { x: false, y: false }, points: { size: 6 } },
        legend: { live: true },
        scales: { x: { time: true }, y: { range: (self, least, most) => [0, most > 0 ? most * 1.08 : 1] } },
        axes: [axis({ values: moments, space: 64 }), axis({ size: 58, space: 34, values: (self, splits) => splits.map(chart.format) })],
        series: [
            { label: 'at', value: (self, second) => (second === null ? GAP_TEXT : new Date(second * 1000).toLocaleTimeString('en-GB')) },
            ...chart.lines.map(([, label, name, filled, dash]) => ({
                label,
                stroke: colour(name),
                width: 2,
                dash,
                fill: filled ? `${colour(name)}22` : undefined,
                points: { show: false },
                value: (self, value) => (value === null ? GAP_TEXT : chart.format(value)),
            })),
        ],
    };
}

/** The last value of each line, for those who do not see the curve. */
function spoken(chart, columns) {
    const last = (name) => columns[name].filter((value) => value !== null).pop();
    return `${chart.title}: ${chart.lines.map(([name, label]) => `${label} ${chart.format(last(name) ?? null)}`).join(', ')}`;
}

export class Charts {
    constructor(place) {
        this.place = place;
        this.drawn = [];
        this.columns = null;
        this.observer = new ResizeObserver(() => this.fit());
        this.observer.observe(place);
    }

    /** Draws these columns, from what is there already where that can be. */
    draw(columns) {
        this.columns = columns;
        if (this.drawn.length === 0)
            this.build();
        this.drawn.forEach(({ chart, plot, figure, none }) => {
            const known = chart.lines.some(([name]) => columns[name].some((value) => value !== null));
            none.hidden = known;
            plot.setData([columns.at, ...chart.lines.map(([name]) => columns[name])]);
            figure.setAttribute('aria-label', spoken(chart, columns));
        });
    }

    build() {
        this.drawn = CHARTS.map((chart) => {
            const area = h('div', { class: 'plot' });
            const none = h('p', { class: 'none', hidden: true }, 'Nothing is known yet.');
            const figure = h('figure', { role: 'img', class: 'chart' }, h('figcaption', {}, chart.title), area, none);
            this.place.append(figure);
            const plot = new globalThis.uPlot(optionsOf(chart, area.clientWidth || 300), [[], ...chart.lines.map(() => [])], area);
            return { chart, plot, figure, area, none };
        });
    }

    fit() {
        this.drawn.forEach(({ plot, area }) => {
            if (area.clientWidth > 0 && area.clientWidth !== plot.width)
                plot.setSize({ width: area.clientWidth, height: HEIGHT });
        });
    }

    /** Colours have changed. */
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
