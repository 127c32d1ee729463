/** What happens in a part's XML. Names have no prefix; elements of foreign namespaces are left out. */
export interface Handlers {
  readonly open?: (name: string, attributes: () => Attributes) => void;
  /** Decoded when it is asked for. */
  readonly text?: (text: () => string) => void;
  readonly close?: (name: string) => void;
}

export type Attributes = Readonly<Record<string, string>>;

export const TAG_MAX_UNITS = 65_536;

/** Prefixes, and elements in each other that declare some: each declaration costs as much as there are. */
const PREFIXES_MAX = 100;

const DEPTH_MAX = 200;

/** What is read of a workbook in about two seconds. */
const ELEMENTS_MAX = 4_000_000;

/** Declarations of namespaces cost more than other tags, and a part has few. */
const DECLARED_MAX = 10_000;

/** What parts of a workbook have by ECMA-376, transitional or strict; parts without a namespace are read, too. */
const KNOWN_NAMESPACE = /\/spreadsheetml\/(?:2006\/)?main$|\/package\/2006\/relationships$/;

const NO_ATTRIBUTES = (): Attributes => ({});

/** Stretches that end with a text of their own, and whether they are text. */
const STRETCHES = [
  { start: "<!--", end: "-->", isText: false },
  { start: "<![CDATA[", end: "]]>", isText: true },
  { start: "<?", end: "?>", isText: false },
] as const;

interface XmlScope {
  readonly depth: number;
  readonly isKnown: ReadonlyMap<string, boolean>;
}

/**
 * Reads the XML of a workbook's part as it comes, linear and with bounded memory. `write` and `end` return false when it is
 * broken: with a document type, with a tag that is too long, or without its end.
 */
export class XmlReader {
  readonly #handlers: Handlers;
  #rest = "";
  #stretch: (typeof STRETCHES)[number] | undefined;
  #depth = 0;
  #elements = 0;
  #declared = 0;
  #isTooMuch = false;
  /** Names with their prefixes to those without, as long as prefixes mean the same. */
  readonly #names = new Map<string, string>();
  readonly #scopes: XmlScope[] = [{ depth: 0, isKnown: new Map() }];

  constructor(handlers: Handlers) {
    this.#handlers = handlers;
  }

  write(piece: string): boolean {
    const xml = this.#rest + piece;
    let at = 0;
    while (at < xml.length) {
      const next = this.#stretch === undefined ? this.#readOne(xml, at) : this.#passed(xml, at);
      if (next === undefined) return false;
      if (next === at) break;
      at = next;
    }
    this.#rest = xml.slice(at);
    return this.#rest.length <= TAG_MAX_UNITS;
  }

  end(): boolean {
    return this.#depth === 0 && this.#rest === "" && this.#stretch === undefined;
  }

  #readOne(xml: string, at: number): number | undefined {
    if (xml[at] !== "<") return this.#readText(xml, at);
    if (xml[at + 1] === "!" || xml[at + 1] === "?") return this.#begin(xml, at);
    const end = endOfTag(xml, at);
    if (end === undefined) return at;
    if (xml[at + 1] === "/") this.#close(xml.slice(at + 2, end));
    else this.#open(xml.slice(at + 1, end));
    return this.#depth < 0 || this.#isTooMuch ? undefined : end + 1;
  }

  #readText(xml: string, at: number): number {
    const tag = xml.indexOf("<", at);
    const end = tag < 0 ? xml.length : tag;
    const reference = tag < 0 ? xml.indexOf("&", Math.max(at, end - REFERENCE_UNITS)) : -1;
    const until = reference < 0 ? end : reference; // it may be cut in two
    if (until === at) return at;
    this.#handlers.text?.(() => decoded(xml.slice(at, until)));
    return until;
  }

  #begin(xml: string, at: number): number | undefined {
    const found = STRETCHES.find(({ start }) => xml.startsWith(start, at));
    if (found === undefined) return xml.length - at < "<![CDATA[".length ? at : undefined;
    this.#stretch = found;
    this.#elements += 1;
    if (this.#elements > ELEMENTS_MAX) return undefined;
    return at + found.start.length;
  }

  #passed(xml: string, at: number): number {
    const { end, isText } = this.#stretch ?? STRETCHES[0];
    const found = xml.indexOf(end, at);
    const until = found < 0 ? Math.max(at, xml.length - end.length + 1) : found;
    if (isText && until > at) this.#handlers.text?.(() => xml.slice(at, until));
    if (found < 0) return until;
    this.#stretch = undefined;
    return found + end.length;
  }

  #open(tag: string): void {
    const isEmpty = tag.endsWith("/");
    const inside = isEmpty ? tag.slice(0, -1) : tag;
    const nameEnd = endOfName(inside);
    const qualified = nameEnd < 0 ? inside : inside.slice(0, nameEnd);
    this.#depth += 1;
    this.#elements += 1;
    this.#isTooMuch ||= this.#depth > DEPTH_MAX || this.#elements > ELEMENTS_MAX;
    const attributes = nameEnd < 0 ? "" : inside.slice(nameEnd);
    if (attributes.includes("xmlns")) this.#declare(attributes);
    const name = this.#known(qualified);
    if (name !== undefined)
      this.#handlers.open?.(
        name,
        attributes === "" ? NO_ATTRIBUTES : () => attributesOf(attributes),
      );
    if (isEmpty) this.#close(qualified);
  }

  #close(qualified: string): void {
    const name = this.#known(qualified);
    if (name !== undefined) this.#handlers.close?.(name);
    if ((this.#scopes.at(-1)?.depth ?? 0) === this.#depth && this.#depth > 0) {
      this.#scopes.pop();
      this.#names.clear();
    }
    this.#depth -= 1;
  }

  #declare(text: string): void {
    this.#declared += 1;
    const isKnown = new Map(this.#scopes.at(-1)?.isKnown);
    eachAttribute(text, (name, value) => {
      if (name === "xmlns") isKnown.set("", KNOWN_NAMESPACE.test(value));
      else if (name.startsWith("xmlns:")) isKnown.set(name.slice(6), KNOWN_NAMESPACE.test(value));
    });
    this.#scopes.push({ depth: this.#depth, isKnown });
    this.#names.clear();
    this.#isTooMuch ||=
      isKnown.size > PREFIXES_MAX ||
      this.#scopes.length > PREFIXES_MAX ||
      this.#declared > DECLARED_MAX;
  }

  #known(qualified: string): string | undefined {
    const known = this.#names.get(qualified);
    if (known !== undefined) return known;
    const name = qualified.trimEnd();
    const colon = name.indexOf(":");
    const prefix = colon < 0 ? "" : name.slice(0, colon);
    if (this.#scopes.at(-1)?.isKnown.get(prefix) === false) return undefined;
    if (this.#names.size < PREFIXES_MAX) this.#names.set(qualified, name.slice(colon + 1));
    return name.slice(colon + 1);
  }
}

function endOfName(tag: string): number {
  for (let at = 0; at < tag.length; at += 1) if (tag.charCodeAt(at) <= 32) return at;
  return -1;
}

/** Where the tag that begins at `at` ends; undefined: not here. A ">" may stand in the value of an attribute. */
function endOfTag(xml: string, at: number): number | undefined {
  const end = xml.indexOf(">", at);
  if (end < 0) return undefined;
  const quoted = xml.indexOf("=", at);
  if (quoted < 0 || quoted > end) return end;
  let quote = "";
  for (let index = at + 1; index < xml.length; index += 1) {
    const char = xml[index] ?? "";
    if (quote !== "") {
      if (char === quote) quote = "";
    } else if (char === '"' || char === "'") quote = char;
    else if (char === ">") return index;
  }
  return undefined;
}

function attributesOf(text: string): Attributes {
  const all: Record<string, string> = {};
  eachAttribute(text, (name, value) => {
    all[name.slice(name.indexOf(":") + 1)] = decoded(value);
  });
  return all;
}

function eachAttribute(text: string, take: (name: string, value: string) => void): void {
  for (let at = 0; ;) {
    const equals = text.indexOf("=", at);
    if (equals < 0) return;
    let start = equals + 1;
    while (text[start] === " " || text[start] === "\n" || text[start] === "\t") start += 1;
    const quote = text[start] ?? "";
    const end = quote === '"' || quote === "'" ? text.indexOf(quote, start + 1) : -1;
    if (end < 0) return;
    take(text.slice(at, equals).trim(), text.slice(start + 1, end));
    at = end + 1;
  }
}

const REFERENCE_UNITS = 10;

const NAMED: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** What a text of XML says. */
function decoded(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(amp|lt|gt|quot|apos));/gi,
    (whole: string, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
      const code = decimal === undefined ? parseInt(hex ?? "", 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}
