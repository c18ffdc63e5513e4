/*
 * Texts kept in one of the browser's storages. Where that is blocked or full, they are kept as long as the page.
 */

/** `name`: localStorage or sessionStorage. Even to name it throws where it is blocked. */
export function storage(name) {
    const unstored = {};
    return {
        get(key) {
            try {
                return unstored[key] ?? window[name].getItem(key);
            } catch (error) {
                return null;
            }
        },
        set(key, text) {
            try {
                window[name].setItem(key, text);
                delete unstored[key];
            } catch (error) {
                unstored[key] = text;
            }
        },
        forget(key) {
            delete unstored[key];
            try {
                window[name].removeItem(key);
            } catch (error) {
                return;
            }
        },
    };
}
