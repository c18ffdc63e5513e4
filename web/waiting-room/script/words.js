/*
 * Waits, numbers of people and times for people. Tests load it as they do decisions.js.
 */

function approach(from, to, seconds, slowness) {
    return from + (to - from) * (1 - Math.exp(-seconds / slowness));
}

/** The wait to show, in seconds: approaches `target` steadily, faster downwards than upwards. */
function damp(shown, target, seconds) {
    return shown === undefined ? target : approach(shown, target, seconds, target > shown ? 90 : 20);
}

/** A wait in seconds as a range: {key, low, high}. */
function waitRange(seconds) {
    const hours = seconds > 4500, unit = hours ? 3600 : 60;
    const step = hours ? 0.5 : seconds > 750 ? 5 : 1;
    const low = Math.max(step, Math.floor(seconds * 0.85 / unit / step) * step);
    const high = Math.max(low + step, Math.ceil(seconds * 1.2 / unit / step) * step);
    return seconds <= 50 ? {key: 'lessThanMinute', low: 0, high: 1} :
        {key: high > 24 && hours ? 'veryLong' : hours ? 'hourRange' : 'minuteRange', low, high};
}

/** A rounded number of people: only a change of it is announced. */
function roundedAhead(ahead) {
    const step = ahead <= 10 ? 1 : ahead <= 100 ? 10 : Math.pow(10, String(ahead).length - 1 - (ahead > 1000));
    return Math.ceil(ahead / step) * step;
}

/** The share of the wait done, in per cent. */
function progressShare(way) {
    return way ? Math.round((way.first - way.shown) / way.first * 100) : 0;
}

function fill(text, values) {
    return text.replace(/\{(\w+)\}/g, (all, name) => name in values ? values[name] : all);
}

/** A duration in words. A unit is used from two of it on, so no language needs its singular. */
function durationText(seconds, texts) {
    const unit = [['days', 86400], ['hours', 3600], ['minutes', 60]].filter((one) =>
        seconds >= (seconds % one[1] === 0 ? 2 : 5) * one[1])[0];
    return seconds < 10 ? texts.lessThanMinute :
        fill(texts[unit ? unit[0] : 'seconds'], {n: Math.round(seconds / (unit ? unit[1] : 1))});
}

/** Time left, in ms, as h:mm:ss. */
function clockText(ms) {
    const seconds = Math.max(0, Math.ceil(ms / 1000)), hours = Math.floor(seconds / 3600);
    const two = (value) => ('0' + value % 60).slice(-2);
    return (hours ? hours + ':' : '') + two(Math.floor(seconds / 60)) + ':' + two(seconds);
}
