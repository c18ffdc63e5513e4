// What a page did: its requests in order, the answers to its own navigations, what it complained of.

/** Begins to write down what happens in `page`; the record grows as long as the page lives. */
export function keepRecord(page) {
    const record = { requests: [], mains: [], console: [], errors: [] };
    const entries = new Map();

    page.on('request', (request) => {
        const entry = {
            method: request.method(),
            url: request.url(),
            kind: request.resourceType(),
            at: performance.now() / 1000,
            status: null,
            failure: null,
        };
        entries.set(request, entry);
        record.requests.push(entry);
    });
    page.on('response', async (response) => {
        const request = response.request();
        if (entries.has(request))
            entries.get(request).status = response.status();
        if (request.isNavigationRequest() && request.frame() === page.mainFrame()) {
            const main = { url: response.url(), status: response.status(), headers: response.headers() };
            record.mains.push(main);
            // Cookies and repeated headers come a moment later, and not at all when the page has closed.
            main.headers = await response.allHeaders().catch(() => main.headers);
        }
    });
    page.on('requestfailed', (request) => {
        if (entries.has(request))
            entries.get(request).failure = request.failure()?.errorText ?? 'failed';
    });
    page.on('console', (message) => {
        record.console.push({ type: message.type(), text: message.text() });
    });
    page.on('pageerror', (error) => {
        record.errors.push(String(error.stack ?? error));
    });
    return record;
}
