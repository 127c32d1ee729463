import { type Built, catalogueOf } from "../words/catalogue/catalogue.ts";
import { addWords, type Language, language, STORED_LANGUAGE } from "./i18n.ts";

/** `first`: the frame, the front door, a check and signing in. `rest`: all other pages. */
type Part = "first" | "rest";
type Load = () => Promise<readonly { readonly built: Built }[]>;

const LOADERS: Readonly<Record<Exclude<Language, "en">, Readonly<Record<Part, Load>>>> = {
  de: {
    first: async () => [await import("../words/catalogue/first.yaml?de")],
    rest: async () =>
      Promise.all([
        import("../words/catalogue/rest.yaml?de"),
        import("../words/catalogue/server.yaml?de"),
      ]),
  },
  es: {
    first: async () => [await import("../words/catalogue/first.yaml?es")],
    rest: async () =>
      Promise.all([
        import("../words/catalogue/rest.yaml?es"),
        import("../words/catalogue/server.yaml?es"),
      ]),
  },
  fr: {
    first: async () => [await import("../words/catalogue/first.yaml?fr")],
    rest: async () =>
      Promise.all([
        import("../words/catalogue/rest.yaml?fr"),
        import("../words/catalogue/server.yaml?fr"),
      ]),
  },
};

const loaded = new Map<Part, Promise<void>>();

async function load(part: Part): Promise<void> {
  if (language === "en") return;
  for (const { built } of await LOADERS[language][part]()) addWords(catalogueOf(built));
}

/** Fetches a part of the catalogue once; without it, what it holds is shown in English. */
export async function loadWords(part: Part): Promise<void> {
  const known = loaded.get(part) ?? load(part).catch(() => void loaded.delete(part));
  loaded.set(part, known);
  return known;
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
