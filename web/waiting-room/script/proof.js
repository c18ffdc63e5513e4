/*
 * The proof of work that a place may cost, in slices. Tests load it as they do decisions.js.
 */

/* SHA-256, of eight words and a counter: a page without TLS has no other. Its constants are fractions of primes' roots. */
const PRIMES = [], fraction = (x) => x % 1 * 4294967296 | 0;
for (let n = 2; n < 312; n++) {
    if (PRIMES.every((prime) => n % prime)) {
        PRIMES.push(n);
    }
}
const ROUNDS = PRIMES.map((n) => fraction(Math.cbrt(n))), START = PRIMES.slice(0, 8).map((n) => fraction(Math.sqrt(n)));
const spin = (x, n) => x >>> n | x << 32 - n, mix = (x, m, n, last) => spin(x, m) ^ spin(x, n) ^ last;

function hash(text, counter) {
    const w = text.concat(counter, 1 << 31, 0, 0, 0, 0, 0, 288);
    let [a, b, c, d, e, f, g, h] = START;
    for (let i = 0; i < 64; i++) {
        if (i > 15) {
            const x = w[i - 15], y = w[i - 2];
            w[i] = w[i - 16] + mix(x, 7, 18, x >>> 3) + w[i - 7] + mix(y, 17, 19, y >>> 10) | 0;
        }
        const t = h + mix(e, 6, 11, spin(e, 25)) + (e & f ^ ~e & g) + ROUNDS[i] + w[i] | 0;
        h = g; g = f; f = e; e = d + t | 0; d = c;
        [a, b, c] = [t + mix(a, 2, 13, spin(a, 22)) + (a & b ^ a & c ^ b & c) | 0, a, b];
    }
    return [a, b, c, d, e, f, g, h].map((word, i) => word + START[i] | 0);
}

/** Tries some counters of an ALTCHA challenge. Returns {solution}, or the next {counter}. */
function tryCounters(challenge, counter) {
    const p = challenge.parameters, words = (hex) => hex.match(/.{8}/g).map((word) => parseInt(word, 16) | 0);
    const text = words(p.salt + p.nonce), wanted = words(p.keyPrefix);
    for (const end = counter + 2000; counter < end; counter++) {
        const key = hash(text, counter);
        if (wanted.every((word, i) => word === key[i])) {
            const hex = key.map((word) => ('0000000' + (word >>> 0).toString(16)).slice(-8)).join('');
            return {solution: {counter, derivedKey: hex, time: 0}};
        }
    }
    return {counter};
}
