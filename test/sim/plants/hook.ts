// Runs in Node's thread for loading modules: gives one file of the program its fault.
import type { LoadHook } from "node:module";

let plant: { readonly file: string; readonly from: string; readonly to: string } | undefined;

export function initialize(given: typeof plant): void {
  plant = given;
}

export const load: LoadHook = async (url, context, next) => {
  const loaded = await next(url, context);
  if (plant === undefined || !url.endsWith(`/dist/src/${plant.file}.js`)) return loaded;
  const { from, to } = plant;
  const text = Buffer.from(loaded.source as Uint8Array).toString();
  return { ...loaded, source: text.replace(from, () => to) };
};
