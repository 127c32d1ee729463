/** How the part before the "@" is made, never what it says: "letters.letters+2" of "jo.doe99". "+tag" and capitals aside. */
export function shapeOf(local: string): string {
  const [name = ""] = local.toLowerCase().split("+", 1);
  if (/^\d+$/.test(name)) return "digits";
  const [, first, between, second, digits = ""] = SHAPE.exec(name) ?? [];
  if (first === undefined) return MIXED;
  const letters = second === undefined ? "letters" : `letters${between === "." ? "." : "_"}letters`;
  return `${letters}+${String(Math.min(digits.length, DIGITS_MAX))}`;
}

const SHAPE = /^([a-z]+)(?:([._-])([a-z]+))?(\d*)$/;
const MIXED = "mixed";
const DIGITS_MAX = 5;

/** Below it four times a share would be noise. */
const LEAST_SHARE = 0.02;

/** Of 21,321 addresses at 15 large providers, from authors of 18 public histories (2026-11-27); others have the least. */
const USUAL: ReadonlyMap<string, number> = new Map([
  ["letters+0", 0.326],
  ["letters.letters+0", 0.143],
  ["letters+2", 0.133],
  ["letters+4", 0.093],
  ["letters+3", 0.084],
  [MIXED, 0.068],
  ["letters+1", 0.041],
  ["letters+5", 0.033],
  ["letters.letters+2", 0.026],
]);

export interface ShapeCounts {
  readonly ofShape: number;
  readonly inHour: number;
  readonly ofShapeBefore: number;
  readonly before: number;
}

const HOUR_LEAST = 30;
const BEFORE_LEAST = 500;
const SHARE_LEAST = 0.4;
const TIMES_USUAL = 4;

export function isShapeWave(shape: string, counts: ShapeCounts): boolean {
  const { ofShape, inHour, ofShapeBefore, before } = counts;
  if (inHour < HOUR_LEAST) return false;
  const known = before >= BEFORE_LEAST ? ofShapeBefore / before : (USUAL.get(shape) ?? 0);
  const share = ofShape / inHour;
  return share >= SHARE_LEAST && share >= TIMES_USUAL * Math.max(LEAST_SHARE, known);
}
