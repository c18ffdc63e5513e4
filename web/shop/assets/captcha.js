/*
 * The proof of work that a coupon may require, done by ALTCHA's own widget. The widget only shows the progress:
 * the page fetches the challenge and starts it. api.js comes before this.
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
            // A browser remembers a failed module, and would not request that address again.
            loading = import(tries++ ? `${WIDGET}?${tries}` : WIDGET).then(() => {
                globalThis.$altcha.algorithms.set('SHA-256', () => new Worker(WORKER));
            }, (error) => {
                loading = null;
                throw new shop.Lost(error.message);
            });
        }
        return loading;
    }

    /** Sets the widget's language to the page's. */
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
     * Does a proof of work for `event`, shown in `place`. Returns {solution}, {refused: the API's answer} if there is
     * no challenge, {impossible: true} if the browser lacks a required feature, or {failed: true}. Throws Lost.
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
        /** Prefetches what prove() will need; prove() handles a failure. */
        prepareProof: () => load().catch(() => {}),
    });
}(window.shop));
