import type { ComponentType } from "preact";
import type { Page } from "./pages.ts";

const loaded = new Map<Page, ComponentType>();

/** The component of a page whose code is here already. */
export const loadedPage = (page: Page): ComponentType | undefined => loaded.get(page);

/** Fetches a page's code; undefined when that fails, or for no page at all. */
export async function loadPage(page: Page | undefined): Promise<ComponentType | undefined> {
  if (page === undefined) return undefined;
  try {
    const component = await page.load();
    loaded.set(page, component);
    return component;
  } catch {
    return undefined;
  }
}
