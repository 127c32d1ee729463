/** One setting: how its text is read, and the words `docs/configuration.md` is held against. */
export interface Setting<Value> {
  readonly name: string;
  /** As the documentation shows it. */
  readonly shownDefault: string;
  readonly meaning: string;
  /** `undefined` when unset or blank. Throws an Error with a sentence for a bad value. */
  readonly read: (text: string | undefined) => Value;
}

export function text(name: string, shownDefault: string, meaning: string): Setting<string> {
  return { name, shownDefault, meaning, read: (given) => given ?? shownDefault };
}

export function optional(name: string, meaning: string): Setting<string | undefined> {
  return { name, shownDefault: "none", meaning, read: (given) => given };
}

interface Range {
  readonly min: number;
  readonly max: number;
}

export function whole(
  name: string,
  standard: number,
  { min, max }: Range,
  meaning: string,
): Setting<number> {
  const read = (given: string | undefined): number => {
    if (given === undefined) return standard;
    const value = Number(given);
    if (/^\d+$/.test(given) && value >= min && value <= max) return value;
    throw new Error(`must be a whole number from ${String(min)} to ${String(max)}, not "${given}"`);
  };
  return { name, shownDefault: String(standard), meaning, read };
}

export function choice<const Word extends string>(
  name: string,
  words: readonly [Word, ...Word[]],
  meaning: string,
): Setting<Word> {
  const read = (given: string | undefined): Word => {
    if (given === undefined) return words[0];
    const word = words.find((known) => known === given);
    if (word !== undefined) return word;
    throw new Error(`must be ${words.join(" or ")}, not "${given}"`);
  };
  return { name, shownDefault: words[0], meaning, read };
}

export function flag(name: string, meaning: string): Setting<boolean> {
  const read = (given: string | undefined): boolean => {
    if (given === undefined || /^(false|0|no|off)$/i.test(given)) return false;
    if (/^(true|1|yes|on)$/i.test(given)) return true;
    throw new Error(`must be true or false, not "${given}"`);
  };
  return { name, shownDefault: "false", meaning, read };
}

/** A setting that another floor knows how to read; `parse` throws an Error with a sentence. */
export function parsed<Value>(
  [name, shownDefault, meaning]: readonly [name: string, shownDefault: string, meaning: string],
  parse: (text: string) => Value,
): Setting<Value | undefined> {
  const read = (given: string | undefined): Value | undefined =>
    given === undefined ? undefined : parse(given);
  return { name, shownDefault, meaning, read };
}

/** The value may hold a password, and is never repeated. */
function readUrl(text: string): string {
  const parsedUrl = URL.canParse(text) ? new URL(text) : undefined;
  const isHttp = parsedUrl?.protocol === "https:" || parsedUrl?.protocol === "http:";
  if (isHttp && parsedUrl.username === "" && parsedUrl.password === "") return parsedUrl.href;
  throw new Error("must be an http or https URL without a user name");
}

/** Without slashes at its end. */
export const readBaseUrl = (text: string): string => readUrl(text).replace(/\/+$/, "");

export function url(name: string, shownDefault: string, meaning: string): Setting<string> {
  return { name, shownDefault, meaning, read: (given) => readUrl(given ?? shownDefault) };
}

/** Takes a URL of one of these schemes with a host. The value may hold a password, and is never repeated. */
export function secretUrl(kind: string, schemes: readonly string[]): (text: string) => string {
  return (text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url !== undefined && schemes.includes(url.protocol) && url.hostname !== "") return text;
    throw new Error(`must be the URL of ${kind}, with ${schemes.join("// or ")}//`);
  };
}

/** The value may hold a password, and is never repeated. */
export function readProxy(text: string): URL {
  const href = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(href) ? new URL(href) : undefined;
  if (url?.protocol === "http:") return url;
  throw new Error("must be the http URL of a proxy");
}

export function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Error(`must be a whole number from 0 to 65535, not "${text}"`);
}

export const readHosts = (text: string): readonly string[] =>
  text.split(/[\s,]+/).filter((host) => host !== "");

/** The value is never repeated. */
export function readApiKey(text: string): string {
  if (/^[!-~]{1,200}$/.test(text)) return text;
  throw new Error("must be printable ASCII without blanks"); // never the value: it is a secret
}

export function secretKey(
  name: string,
  shownDefault: string,
  meaning: string,
): Setting<Buffer | undefined> {
  const read = (given: string | undefined): Buffer | undefined => {
    if (given === undefined) return undefined;
    const key = Buffer.from(given, "base64");
    if (key.length === 32) return key;
    throw new Error("must be 32 bytes in base64"); // never the value: it is a secret
  };
  return { name, shownDefault, meaning, read };
}
