import { type Catalogue, type Language, language, setCatalogue, STORED_LANGUAGE } from "./i18n.ts";

const LOADERS: Readonly<Record<Language, () => Promise<Catalogue>>> = {
  en: () => Promise.resolve({}),
  de: async () => (await import("../words/catalogue/de.ts")).DE,
  fr: async () => (await import("../words/catalogue/fr.ts")).FR,
  es: async () => (await import("../words/catalogue/es.ts")).ES,
};

/** Fetches the catalogue of the language; without it the page speaks English. */
export async function loadLanguage(): Promise<void> {
  const root = document.documentElement;
  root.lang = language;
  if (language === "en") return;
  try {
    setCatalogue(await LOADERS[language]());
  } catch {
    root.lang = "en";
  }
}

/** Remembers a language and shows the page in it. */
export function chooseLanguage(name: Language): void {
  try {
    localStorage.setItem(STORED_LANGUAGE, name);
  } catch {
    return;
  }
  location.reload();
}
