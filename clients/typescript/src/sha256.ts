/** SHA-256 (FIPS 180-4) without a promise, for the pocket list: nothing secret goes through it. */

const primesRoots = (power: number, count: number): Uint32Array => {
  const roots = new Uint32Array(count);
  let found = 0;
  for (let candidate = 2; found < count; candidate += 1) {
    let divisor = 2;
    while (candidate % divisor !== 0) divisor += 1;
    if (divisor === candidate) roots[found++] = (candidate ** power % 1) * 2 ** 32;
  }
  return roots;
};

const START = primesRoots(1 / 2, 8);
const ROUNDS = primesRoots(1 / 3, 64);

const turn = (word: number, by: number): number => (word >>> by) | (word << (32 - by));

const word = (words: Uint32Array, at: number): number => words[at] ?? 0;

/** The first 40 bits as a number. */
export function hash40(bytes: Uint8Array): number {
  const padded = new Uint8Array((((bytes.length + 8) >> 6) << 6) + 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 4, bytes.length * 8);
  const state = START.slice();
  const words = new Uint32Array(64);
  for (let at = 0; at < padded.length; at += 64) {
    for (let t = 0; t < 16; t += 1) words[t] = view.getUint32(at + t * 4);
    mix(state, words);
  }
  return word(state, 0) * 256 + (word(state, 1) >>> 24);
}

/** One block of `w`, whose first 16 words are set. Stores in the arrays keep the low 32 bits of sums. */
function mix(state: Uint32Array, w: Uint32Array): void {
  for (let t = 16; t < 64; t += 1) {
    const x = word(w, t - 15);
    const y = word(w, t - 2);
    const low = turn(x, 7) ^ turn(x, 18) ^ (x >>> 3);
    const high = turn(y, 17) ^ turn(y, 19) ^ (y >>> 10);
    w[t] = word(w, t - 16) + low + word(w, t - 7) + high;
  }
  const s = state.slice();
  for (let t = 0; t < 64; t += 1) {
    const [a, b, c, e] = [word(s, 0), word(s, 1), word(s, 2), word(s, 4)];
    const one = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
    const choice = (e & word(s, 5)) ^ (~e & word(s, 6));
    const first = word(s, 7) + one + choice + word(ROUNDS, t) + word(w, t);
    const zero = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
    s.copyWithin(1, 0, 7);
    s[4] = word(s, 4) + first;
    s[0] = first + zero + ((a & b) ^ (a & c) ^ (b & c));
  }
  for (const at of state.keys()) state[at] = word(state, at) + word(s, at);
}
