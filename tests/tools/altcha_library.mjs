// ALTCHA's own library as a second opinion, for tests. Reads {"challenge": {..} or null, "data": {..}, "secrets":
// {"challenge": s, "key": s}, "expires": seconds since 1970 or null} from standard input. Without a challenge it makes
// one for `data`. Solves it, and prints
// {"challenge", "payload", "verified", "tampered"}: what the library says of it, and of one with another event.
import { createChallenge, solveChallenge, verifySolution } from 'altcha-lib';
import { deriveKey } from 'altcha-lib/algorithms/sha';
import { readFileSync } from 'node:fs';

const { challenge: given, data, secrets, expires } = JSON.parse(readFileSync(0, 'utf8'));
const keys = { hmacSignatureSecret: secrets.challenge, hmacKeySignatureSecret: secrets.key };

const challenge = given ?? await createChallenge({
  algorithm: 'SHA-256',
  cost: 1,
  counter: 31337,
  data,
  deriveKey,
  expiresAt: expires ?? Math.floor(Date.now() / 1000) + 60,
  ...keys,
});
const solution = await solveChallenge({ challenge, deriveKey });
const judge = async (parameters) =>
  (await verifySolution({ challenge: { ...challenge, parameters }, solution, deriveKey, ...keys })).verified;
const { parameters } = challenge;

console.log(JSON.stringify({
  challenge,
  payload: btoa(JSON.stringify({ challenge, solution })),
  verified: await judge(parameters),
  tampered: await judge({ ...parameters, data: { ...parameters.data, event: 'another' } }),
}));
