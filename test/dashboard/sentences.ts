import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { parseSync } from "vite";

interface Syntax {
  readonly type?: string;
  readonly name?: { readonly name?: unknown } | string;
  readonly callee?: { readonly name?: string };
  readonly arguments?: readonly unknown[];
  readonly value?: unknown;
  readonly source?: { readonly value?: string };
  readonly importKind?: string;
  readonly openingElement?: { readonly name?: { readonly name?: unknown } };
}

export interface Sentences {
  /** String literals that a reader may see: each is a key of the catalogue. */
  readonly keys: readonly string[];
  /** Text that no catalogue can hold, because it is not a literal of its own. */
  readonly loose: readonly string[];
  /** Every string literal. */
  readonly literals: readonly string[];
  /** Files of the dashboard that it imports before it runs. */
  readonly imports: readonly string[];
}

/** Two words with a blank between them, or one that begins like a heading. */
const WORDS = /\p{L}{2,}[’'”,.:;)?!…]* [“({]*\p{L}|^\p{Lu}\p{Ll}+[.…?]?$/u;
const LETTERS = /\p{L}{2}/u;
const SINGLE = /^tx?$/;
const PAIRED = /^(counted|plural)$/;
/** Attributes that no reader sees. */
const MUTE =
  /^(class|d|viewBox|rel|style|type|key|href|id|inputMode|autocomplete|accept|aria-keyshortcuts)$/;
/** Names, and words of the browser and its programs. */
const EXEMPT =
  /^(Gatepost|English|Deutsch|Español|Français|JSON|CSV|Node|Python|PHP|Ctrl K|Edge|Opera|Firefox|Chrome|Safari|Android|Windows|Linux|DNS|Redis|Files|Escape|Home|End|Relationship|Id|Target|no clipboard|input, textarea, select, dialog|gatepost .*)$/;
/** What the reader copies is code in every language. */
const CODE = /^words\/([\w-]+-)?samples\.ts$|^words\/catalogue\//;
const SILENT = /^(ImportE|TS(LiteralType|ImportType|Interface|TypeAlias))/;

const isSyntax = (value: unknown): value is Syntax =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isText = (text: string): boolean => LETTERS.test(text) && !EXEMPT.test(text.trim());

class Reader {
  readonly keys: string[] = [];
  readonly loose: string[] = [];
  readonly literals: string[] = [];
  readonly imports: string[] = [];
  readonly #file: string;

  constructor(file: string) {
    this.#file = file;
  }

  /** `isSaid`: it is what `t` is asked for. */
  read(node: unknown, isSaid = false): void {
    if (Array.isArray(node)) for (const child of node as unknown[]) this.read(child);
    if (!isSyntax(node) || isMute(node)) return;
    if (node.type === "ImportDeclaration") this.#import(node);
    this.#text(node, isSaid);
    if (node.type === "CallExpression") this.#call(node);
    else this.#children(node, isSaid && node.type === "ConditionalExpression");
  }

  #children(node: Syntax, isChoice: boolean): void {
    for (const [field, child] of Object.entries(node))
      this.read(child, isChoice && field !== "test");
  }

  #call({ callee, arguments: given = [] }: Syntax): void {
    const name = callee?.name ?? "";
    this.read(callee);
    given.forEach((one, at) => this.read(one, at === 0 ? SINGLE.test(name) : PAIRED.test(name)));
  }

  #text({ type, value }: Syntax, isSaid: boolean): void {
    if (type === "Literal" && typeof value === "string") {
      this.literals.push(value);
      if (isText(value) && (isSaid || WORDS.test(value))) this.keys.push(value);
    }
    if (type === "JSXText") this.#around(String(value).trim());
    if (type !== "TemplateElement") return;
    const { cooked = "" } = value as { readonly cooked?: string };
    if (WORDS.test(cooked)) this.#around(cooked);
  }

  #around(text: string): void {
    if (isText(text)) this.loose.push(text);
  }

  /** What it imports is no sentence. */
  #import({ source, importKind }: Syntax): void {
    const name = source?.value ?? "";
    if (importKind === "type" || !name.startsWith(".")) return;
    this.imports.push(posix.join(posix.dirname(this.#file), name));
  }
}

/** An attribute that is not shown, or code in the page. */
function isMute({ type = "", name, openingElement }: Syntax): boolean {
  if (SILENT.test(type)) return true;
  if (type === "JSXElement") return openingElement?.name?.name === "code";
  return type === "JSXAttribute" && typeof name === "object" && MUTE.test(String(name.name));
}

/** What one file says to its readers. */
export function sentencesIn(file: string, source: string): Sentences {
  const reader = new Reader(file);
  reader.read(parseSync(file, source).program.body);
  const { literals, imports } = reader;
  return CODE.test(file) ? { keys: [], loose: [], literals, imports } : reader;
}

const root = new URL("../../../src/dashboard/", import.meta.url);

/** What every file of the dashboard says, by its path below `src/dashboard`. */
export function dashboardSentences(): ReadonlyMap<string, Sentences> {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" });
  return new Map(
    names
      .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"))
      .map((name) => [name, sentencesIn(name, readFileSync(new URL(name, root), "utf8"))]),
  );
}

/** These files and those that they import before they run. */
export function withImports(
  all: ReadonlyMap<string, Sentences>,
  files: readonly string[],
  except: readonly string[] = [],
): ReadonlySet<string> {
  const found = new Set<string>(except);
  const add = (file: string): void => {
    if (found.has(file) || !all.has(file)) return;
    found.add(file);
    for (const name of all.get(file)?.imports ?? []) add(name);
  };
  for (const file of files) add(file);
  for (const file of except) found.delete(file);
  return found;
}

/** A table of the catalogue, as text. */
export const tableText = (name: string): string =>
  readFileSync(new URL(`words/catalogue/${name}.yaml`, root), "utf8");
