/*
 * The page's language. The HTML is in English; this is loaded in its head, fetches the texts of the chosen
 * language, and fills every [data-text]. The choice is the cookie sluice_language, shared with the waiting page,
 * else the browser's preference.
 */
(function () {
    'use strict';

    const LANGUAGES = ['en', 'ko'];
    const WRITTEN = 'en';
    const COOKIE = 'sluice_language';
    const YEAR_S = 365 * 24 * 3600;
    const HIDDEN_AT_MOST_MS = 1500;
    const root = document.documentElement;
    const listeners = [];
    let language = wished();
    let wanted = language;
    let texts = {};

    function wished() {
        const kept = document.cookie.split('; ').find((pair) => pair.startsWith(`${COOKIE}=`));
        const wishes = [kept ? kept.slice(COOKIE.length + 1) : '', ...(navigator.languages || [navigator.language])];
        const known = wishes.map((wish) => String(wish).slice(0, 2).toLowerCase());
        return known.find((wish) => LANGUAGES.includes(wish)) || WRITTEN;
    }

    /** The texts of a language. A page without them is useless, so this retries for ever. */
    async function load(name) {
        for (let pause = 500; ; pause = Math.min(pause * 2, 10000)) {
            try {
                const answer = await fetch(`/shop/assets/texts/${name}.json`);
                if (answer.ok)
                    return await answer.json();
            } catch (error) {
                if (!(error instanceof TypeError || error instanceof SyntaxError))
                    throw error;
            }
            await new Promise((done) => setTimeout(done, pause));
        }
    }

    /** The text of that name, its {parameters} filled in. */
    function text(name, parameters = {}) {
        return (texts[name] || '').replace(/\{(\w+)\}/g, (whole, key) => (key in parameters ? parameters[key] : whole));
    }

    /** Fills the elements that name a text. */
    function fill() {
        document.querySelectorAll('[data-text]').forEach((element) => {
            element.textContent = text(element.dataset.text);
        });
        document.querySelectorAll('[data-alt]').forEach((element) => {
            element.alt = text(element.dataset.alt);
        });
        document.querySelectorAll('[data-label]').forEach((element) => {
            element.setAttribute('aria-label', text(element.dataset.label));
        });
    }

    function show() {
        root.lang = language;
        fill();
        document.querySelectorAll('[data-language]').forEach((button) => {
            button.hidden = false;
            button.setAttribute('aria-pressed', String(button.dataset.language === language));
        });
        listeners.forEach((listener) => listener());
        root.classList.remove('translating');
    }

    function keep(name) {
        const secure = location.protocol === 'https:' ? '; Secure' : '';
        document.cookie = `${COOKIE}=${name}; Path=/; Max-Age=${YEAR_S}; SameSite=Lax${secure}`;
    }

    async function choose(name) {
        keep(name);
        wanted = name;
        const chosen = await load(name);
        if (wanted !== name)
            return;
        language = name;
        texts = chosen;
        show();
    }

    if (language !== WRITTEN) {
        root.lang = language;
        root.classList.add('translating');
        setTimeout(() => root.classList.remove('translating'), HIDDEN_AT_MOST_MS);
    }
    const parsed = new Promise((done) => document.addEventListener('DOMContentLoaded', done));
    const ready = Promise.all([load(language), parsed]).then(([loaded]) => {
        texts = loaded;
        show();
    });
    document.addEventListener('click', (event) => {
        const button = event.target.closest('[data-language]');
        if (button)
            choose(button.dataset.language);
    });

    window.shop = {
        text,
        /** Fulfilled once the texts are loaded and shown. */
        ready,
        /** Calls `listener` whenever another language is shown. */
        onLanguage: (listener) => listeners.push(listener),
        money: ({ amount, currency }) => {
            if (amount === 0)
                return text('free');
            const format = new Intl.NumberFormat(language, { style: 'currency', currency });
            return format.format(amount / 10 ** format.resolvedOptions().maximumFractionDigits);
        },
        time: (moment, timeStyle = 'short') => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle })
            .format(new Date(moment)),
        count: (number) => number.toLocaleString(language),
    };
}());
