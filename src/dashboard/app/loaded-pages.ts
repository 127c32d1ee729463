import type { ComponentType } from "preact";
import { loadWords } from "./language.ts";
import type { Page } from "./pages.ts";

const loaded = new Map<Page, ComponentType>();

/** The component of a page whose code is here already. */
export const loadedPage = (page: Page): ComponentType | undefined => loaded.get(page);

/** Fetches a page's code; undefined when that fails, or for no page at all. */
export async function loadPage(page: Page | undefined): Promise<ComponentType | undefined> {
  if (page === undefined) return undefined;
  try {
    const [component] = await Promise.all([page.load(), loadWords(page.words ?? "rest")]);
    loaded.set(page, component);
    return component;
  } catch {
    return undefined;
  }
}
