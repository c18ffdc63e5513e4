/*
 * The proof of work that a coupon may ask for, done by ALTCHA's own widget. The widget only shows how the work goes:
 * the page asks for the challenge and begins by itself. api.js comes before this.
 */
(function (shop) {
    'use strict';

    const WIDGET = '/shop/assets/altcha/altcha.min.js';
    const WORKER = '/shop/assets/altcha/sha.js';
    const WORKERS_AT_MOST = 4;
    const WORK_WITHIN_MS = 60000;
    let tries = 0;
    let loading = null;
    let widget = null;

    /** Loads the widget's script. Throws Lost; may be called again then. */
    function load() {
        if (!loading) {
            // A browser remembers that a module did not come, and would not ask for that address again.
            loading = import(tries++ ? `${WIDGET}?${tries}` : WIDGET).then(() => {
                globalThis.$altcha.algorithms.set('SHA-256', () => new Worker(WORKER));
            }, (error) => {
                loading = null;
                throw new shop.Lost(error.message);
            });
        }
        return loading;
    }

    /** Gives the widget the page's language. */
    function translate() {
        if (!widget)
            return;
        const language = document.documentElement.lang;
        globalThis.$altcha.i18n.set(language, {
            ...globalThis.$altcha.i18n.get('en'),
            label: shop.text('captchaLabel'),
            verifying: shop.text('captchaVerifying'),
            verified: shop.text('captchaVerified'),
            error: shop.text('captchaError'),
        });
        widget.configure({ language });
    }

    async function show(place) {
        if (widget)
            return;
        const made = document.createElement('altcha-widget');
        made.setAttribute('configuration', JSON.stringify({
            hideFooter: true,
            hideLogo: true,
            humanInteractionSignature: false,
            minDuration: 0,
            timeout: WORK_WITHIN_MS,
            workers: Math.min(WORKERS_AT_MOST, navigator.hardwareConcurrency || 1),
        }));
        await new Promise((done) => {
            made.addEventListener('load', done, { once: true });
            place.append(made);
        });
        widget = made;
        translate();
    }

    /**
     * Does a proof of work for `event`, shown in `place`. Gives {solution}, {refused: the API's answer} where there is
     * no challenge, {impossible: true} where the browser lacks what it takes, or {failed: true}. Throws Lost.
     */
    async function prove(event, place) {
        if (!globalThis.isSecureContext || !globalThis.Worker || !globalThis.customElements)
            return { impossible: true };
        await load();
        await show(place);
        const answer = await shop.call('GET', `/v1/captcha/challenge?event=${encodeURIComponent(event)}`);
        if (answer.status !== 200)
            return { refused: answer };
        widget.configure({ challenge: answer.body });
        const proof = await widget.verify();
        return proof && proof.payload ? { solution: proof.payload } : { failed: true };
    }

    shop.onLanguage(translate);
    Object.assign(shop, {
        prove,
        /** Fetches ahead what prove() will need; a failure is its business. */
        prepareProof: () => load().catch(() => {}),
    });
}(window.shop));
