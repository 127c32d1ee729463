/** Made names in the shapes of real ones: shares of 21,321 addresses at large providers, in per mille. */

const letters = (number: number): string => {
  let text = "";
  for (let left = number + 26; left > 0; left = Math.floor(left / 26))
    text = String.fromCharCode(97 + (left % 26)) + text;
  return text;
};
const digits = (number: number, length: number): string =>
  String((number * 7_919) % 10 ** length).padStart(length, "0");
const two = (number: number): string => `${letters(number)}.${letters(number * 31)}`;

const SHAPES: readonly (readonly [share: number, name: (number: number) => string])[] = [
  [326, (n) => `jo${letters(n)}`],
  [143, two],
  [133, (n) => letters(n) + digits(n, 2)],
  [93, (n) => letters(n) + digits(n, 4)],
  [84, (n) => letters(n) + digits(n, 3)],
  [68, (n) => `x${digits(n, 2)}${letters(n)}`],
  [41, (n) => letters(n) + digits(n, 1)],
  [33, (n) => letters(n) + digits(n, 6)],
  [26, (n) => two(n) + digits(n, 2)],
  [13, (n) => two(n) + digits(n, 4)],
  [11, (n) => `${letters(n)}_${letters(n * 31)}`],
  [9, (n) => two(n) + digits(n, 1)],
  [9, (n) => two(n) + digits(n, 3)],
  [11, (n) => `9${digits(n, 7)}`],
];

/** The same numbers below 1 for the same seed (a linear congruential generator). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

/** Addresses of so many different people, of which one in twenty is named in any shape. Gmail has no underscores. */
export function honestPeople(count: number, seed: number): readonly string[] {
  const random = seeded(seed);
  return Array.from({ length: count }, (_, at) => {
    let left = random() * 1_000;
    const isNoise = random() < 0.05;
    const any = SHAPES[Math.floor(random() * SHAPES.length)];
    const drawn = SHAPES.find(([share]) => (left -= share) < 0);
    const [, name = two] = (isNoise ? any : drawn) ?? [];
    const local = name(at);
    return `${local}@${local.includes("_") ? "outlook.com" : "gmail.com"}`;
  });
}
