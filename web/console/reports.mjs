/*
 * What is reported about the actions that were carried out: of which queue, and no longer once a newer action on the same has been
 * taken. Independent of any page.
 */

/** `show(text, level)` shows all reports; an empty text: none. */
export function reportsTo(show) {
    const newest = new Map();
    const reports = new Map();

    function showAll() {
        const all = [...reports.values()];
        show(all.map((report) => report.text).join(' '), all.some((report) => report.level === 'bad') ? 'bad' : 'good');
    }

    return {
        /** A function tell(text, level) for the reports of an action that has just been taken. */
        about(queue, act) {
            const subject = `${queue} ${act.about || act.id}`;
            const mine = {};
            newest.set(subject, mine);
            return (text, level = 'good') => {
                if (newest.get(subject) !== mine)
                    return;
                reports.set(subject, { text: `${queue}, ${act.label}: ${text}`, level });
                showAll();
            };
        },
        clear() {
            reports.clear();
            showAll();
        },
    };
}
