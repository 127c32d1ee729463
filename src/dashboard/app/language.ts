import { type Built, catalogueOf } from "../words/catalogue/catalogue.ts";
import { addWords, type Language, language, STORED_LANGUAGE } from "./i18n.ts";

/** `first`: the frame, the front door and signing in. `check`: a check's answer, and faults. `rest`: all. */
export type Words = "first" | "check" | "rest";
type Load = () => Promise<{ readonly built: Built }>;

const TABLES = {
  first: {
    de: () => import("../words/catalogue/first.yaml?de"),
    es: () => import("../words/catalogue/first.yaml?es"),
    fr: () => import("../words/catalogue/first.yaml?fr"),
  },
  check: {
    de: () => import("../words/catalogue/check.yaml?de"),
    es: () => import("../words/catalogue/check.yaml?es"),
    fr: () => import("../words/catalogue/check.yaml?fr"),
  },
  rest: {
    de: () => import("../words/catalogue/rest.yaml?de"),
    es: () => import("../words/catalogue/rest.yaml?es"),
    fr: () => import("../words/catalogue/rest.yaml?fr"),
  },
  server: {
    de: () => import("../words/catalogue/server.yaml?de"),
    es: () => import("../words/catalogue/server.yaml?es"),
    fr: () => import("../words/catalogue/server.yaml?fr"),
  },
} satisfies Record<string, Record<Exclude<Language, "en">, Load>>;
type Table = keyof typeof TABLES;

/** Beside those of `first`, which are always there. */
const NEEDED: Readonly<Record<Words, readonly Table[]>> = {
  first: ["first"],
  check: ["check", "server"],
  rest: ["check", "rest", "server"],
};

const loaded = new Map<Table, Promise<void>>();

async function load(table: Table): Promise<void> {
  if (language === "en") return;
  addWords(catalogueOf((await TABLES[table][language]()).built));
}

function loadOnce(table: Table): Promise<void> {
  const known = loaded.get(table) ?? load(table).catch(() => void loaded.delete(table));
  loaded.set(table, known);
  return known;
}

/** Fetches tables of the catalogue once; without them, what they hold is shown in English. */
export async function loadWords(words: Words): Promise<void> {
  await Promise.all(NEEDED[words].map(loadOnce));
}

/** Remembers a language and shows the page in it. */
export function chooseLanguage(name: string): void {
  try {
    localStorage.setItem(STORED_LANGUAGE, name);
  } catch {
    return;
  }
  location.reload();
}
