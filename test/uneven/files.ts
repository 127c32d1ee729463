import fs from "node:fs/promises";
import { later, replace } from "./late.ts";

const LATE =
  "access appendFile copyFile mkdir mkdtemp open readdir readFile rename rm stat unlink writeFile";

const turn = (): Promise<void> => new Promise(later);

/** Delays file operations, before and after: others may read in between. */
export function lateFiles(): void {
  for (const name of LATE.split(" ")) {
    replace(
      fs,
      name,
      (real) =>
        async function (this: unknown, ...args: unknown[]) {
          await turn();
          try {
            return await (Reflect.apply(real, this, args) as Promise<unknown>);
          } finally {
            await turn();
          }
        },
    );
  }
}
