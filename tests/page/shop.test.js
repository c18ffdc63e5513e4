'use strict';
// The shop's pages fit together: they lead to the same places, and every text is used and there.
const assert = require('node:assert');
const fs = require('node:fs');
const path = require('node:path');
const test = require('node:test');

const folder = path.join(__dirname, '../../web/shop');
const read = (name) => fs.readFileSync(path.join(folder, name), 'utf8');
const pages = fs.readdirSync(folder).filter((name) => name.endsWith('.html'));
const scripts = fs.readdirSync(path.join(folder, 'assets')).filter((name) => name.endsWith('.js'));

test('every page leads to the same places, and says which of them it is', () => {
    const ways = (page) => read(page).match(/<nav [^]*?<\/nav>/)[0].replace(' aria-current="page"', '');
    assert.ok(pages.length > 1);
    for (const page of pages) {
        assert.strictEqual(ways(page), ways('index.html'), page);
        const here = read(page).match(/<a href="\/shop\/([^"]*)" aria-current="page"/);
        assert.ok(here ? (here[1] || 'index.html') === page : ['product.html', 'seats.html'].includes(page), page);
    }
});

test('wherever something may be ordered or paid, the page can say that payments are simulated', () => {
    for (const page of pages.filter((name) => name !== 'coupon.html')) {
        assert.ok(read(page).includes('<p class="simulated" id="simulated"'), page);
        assert.ok(read(page).includes('/shop/assets/simulated.js"'), page);
    }
});

test('what a page loads is there, and every text is there, used, and what the page says without scripts', () => {
    const texts = JSON.parse(read('assets/texts/en.json'));
    const whole = [...pages, ...scripts.map((name) => `assets/${name}`)].map(read).join('');
    // Those whose names are put together, such as `status${state}`.
    const prefixes = [...whole.matchAll(/text\(`(\w+)\$\{/g)].map(([, prefix]) => prefix);
    for (const page of pages) {
        for (const [, file] of read(page).matchAll(/(?:src|href)="\/shop\/(assets\/[^"]+)"/g)) {
            assert.ok(fs.existsSync(path.join(folder, file)), `${page}: ${file}`);
        }
        for (const [, key] of read(page).matchAll(/data-(?:text|alt|label)="(\w+)"/g)) {
            assert.ok(texts[key], `${page}: ${key}`);
        }
        for (const [, key, said] of read(page).matchAll(/data-text="(\w+)"[^>]*>([^<]*)</g)) {
            assert.strictEqual(said, texts[key], `${page}: ${key}`);
        }
    }
    for (const key of Object.keys(texts)) {
        const isMade = prefixes.some((prefix) => key.startsWith(prefix) && /^[A-Z_]+$/.test(key.slice(prefix.length)));
        assert.ok(isMade || new RegExp(`['"]${key}['"]`).test(whole), `${key} is not used`);
    }
});
