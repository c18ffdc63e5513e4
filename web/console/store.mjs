/*
 * What the browser keeps for the console. Where it keeps nothing, because site data are blocked or full, the page itself
 * remembers it until it is closed or loaded again.
 */

/** `find` returns the browser's storage; blocked ones throw already there. */
export function storeOf(find) {
    const remembered = new Map();
    const attempt = (work) => {
        try {
            return work(find());
        } catch {
            return null;
        }
    };
    return {
        get: (name) => (remembered.has(name) ? remembered.get(name) : attempt((storage) => storage.getItem(name))),
        set(name, text) {
            remembered.delete(name);
            attempt((storage) => storage.setItem(name, text));
            if (attempt((storage) => storage.getItem(name)) !== text)
                remembered.set(name, text);
        },
        forget(name) {
            remembered.delete(name);
            attempt((storage) => storage.removeItem(name));
        },
    };
}

export const ofTab = storeOf(() => sessionStorage);
export const ofBrowser = storeOf(() => localStorage);
