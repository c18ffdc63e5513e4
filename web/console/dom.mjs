/*
 * Builds elements without HTML text: whatever comes from the API stays text.
 */
export const $ = (id) => document.getElementById(id);

/** An element. Attributes: `class`, `data-…`, `aria-…` as they are, a function is a listener ('onclick'), false and null
 *  are omitted. Children: elements, text; null is omitted. */
export function h(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
        if (typeof value === 'function')
            element.addEventListener(name.slice(2), value);
        else if (value !== null && value !== false && value !== undefined)
            element.setAttribute(name, value === true ? '' : String(value));
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
}

/** Replaces the children. */
export function fill(element, ...children) {
    element.replaceChildren(...children.flat().filter((child) => child !== null && child !== undefined));
}

/** Sets text only if it differs, so that nothing is announced or deselected without need. */
export function say(element, text) {
    if (element.textContent !== text)
        element.textContent = text;
}

export function show(element, shown) {
    element.hidden = !shown;
}
