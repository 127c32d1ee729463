/** Bootstring parameters of Punycode (RFC 3492 section 5). */
const BASE = 36;
const T_MIN = 1;
const T_MAX = 26;
const SKEW = 38;
const DAMP = 700;
const INITIAL_BIAS = 72;
const INITIAL_N = 128;

/** Punycode of a label in Unicode, without "xn--" (RFC 3492 section 6.3). ASCII characters stay as they are. */
export function toPunycode(label: readonly number[]): string {
  const basic = label.filter((code) => code < INITIAL_N);
  let output = String.fromCharCode(...basic) + (basic.length > 0 ? "-" : "");
  let [n, delta, bias, handled] = [INITIAL_N, 0, INITIAL_BIAS, basic.length];
  while (handled < label.length) {
    const next = label.reduce(
      (least, code) => (code >= n && code < least ? code : least),
      Infinity,
    );
    delta += (next - n) * (handled + 1);
    n = next;
    for (const code of label) {
      if (code < n) delta += 1;
      if (code !== n) continue;
      output += integer(delta, bias);
      bias = adapted(delta, handled + 1, handled === basic.length);
      delta = 0;
      handled += 1;
    }
    delta += 1;
    n += 1;
  }
  return output;
}

/** A variable-length integer (section 3.3). */
function integer(delta: number, bias: number): string {
  let digits = "";
  let rest = delta;
  for (let k = BASE; ; k += BASE) {
    const t = Math.min(Math.max(k - bias, T_MIN), T_MAX);
    if (rest < t) return digits + digit(rest);
    digits += digit(t + ((rest - t) % (BASE - t)));
    rest = Math.floor((rest - t) / (BASE - t));
  }
}

/** "a" to "z", then "0" to "9". */
const digit = (value: number): string => String.fromCharCode(value < 26 ? value + 97 : value + 22);

/** Section 6.1. */
function adapted(delta: number, points: number, isFirst: boolean): number {
  let rest = Math.floor(delta / (isFirst ? DAMP : 2));
  rest += Math.floor(rest / points);
  let k = 0;
  for (; rest > ((BASE - T_MIN) * T_MAX) / 2; k += BASE) rest = Math.floor(rest / (BASE - T_MIN));
  return k + Math.floor(((BASE - T_MIN + 1) * rest) / (rest + SKEW));
}

/** The code points of Punycode in lower case (section 6.2); undefined if invalid. */
export function fromPunycode(text: string): readonly number[] | undefined {
  const end = text.lastIndexOf("-");
  const codes = Array.from(text.slice(0, Math.max(end, 0)), (basic) => basic.charCodeAt(0));
  let [n, i, bias] = [INITIAL_N, 0, INITIAL_BIAS];
  for (let at = end + 1; at < text.length;) {
    const read = integerAt(text, at, bias);
    if (read === undefined) return undefined;
    const points = codes.length + 1;
    bias = adapted(read.value, points, i === 0 && n === INITIAL_N && at === end + 1);
    n += Math.floor((i + read.value) / points);
    i = (i + read.value) % points;
    if (n > CODE_MAX) return undefined;
    codes.splice(i, 0, n);
    i += 1;
    at = read.next;
  }
  return codes;
}

const CODE_MAX = 0x10ffff;

function integerAt(
  text: string,
  start: number,
  bias: number,
): { readonly value: number; readonly next: number } | undefined {
  let [value, weight] = [0, 1];
  for (let at = start, k = BASE; at < text.length; at += 1, k += BASE) {
    const found = digitValue(text.charCodeAt(at));
    value += found * weight;
    if (found < 0 || value > Number.MAX_SAFE_INTEGER) return undefined;
    const t = Math.min(Math.max(k - bias, T_MIN), T_MAX);
    if (found < t) return { value, next: at + 1 };
    weight *= BASE - t;
  }
  return undefined;
}

function digitValue(code: number): number {
  if (code >= 97 && code <= 122) return code - 97;
  return code >= 48 && code <= 57 ? code - 22 : -1;
}
