import type { ComponentType } from "preact";
import type { Page } from "./pages.ts";

const loaded = new Map<string, ComponentType>();

/** The component of a page whose code is here already. */
export const loadedPage = ({ path }: Page): ComponentType | undefined => loaded.get(path);

/** Fetches a page's code; undefined when that fails, or for no page at all. */
export async function loadPage(page: Page | undefined): Promise<ComponentType | undefined> {
  if (page === undefined) return undefined;
  try {
    const component = await page.load();
    loaded.set(page.path, component);
    return component;
  } catch {
    return undefined;
  }
}
