import type { ComponentType } from "preact";

/** A page, or a part of one, whose code is fetched when it is wanted. */
export interface Loadable {
  readonly load: () => Promise<ComponentType>;
}

const loaded = new Map<Loadable, ComponentType>();

/** The component whose code is here already. */
export const loadedPart = (part: Loadable): ComponentType | undefined => loaded.get(part);

/** Fetches the code; undefined when that fails, or for no part at all. */
export async function loadPart(part: Loadable | undefined): Promise<ComponentType | undefined> {
  if (part === undefined) return undefined;
  try {
    const component = await part.load();
    loaded.set(part, component);
    return component;
  } catch {
    return undefined;
  }
}
