import type { Clock } from "../../ports/process/clock.ts";
import type { Log } from "../../ports/process/log.ts";
import { makePocket, type PocketDeps, type PocketFile, type PocketSource } from "./pocket.ts";

/** The pocket list that is served. */
export interface CurrentPocket {
  /** Makes the first one; rejects when that fails. A later one is made in the background. */
  current(): Promise<PocketFile>;
}

export interface CurrentPocketDeps extends PocketDeps {
  readonly source: () => PocketSource;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Pick<Log, "error">;
}

/** Changes of the operator come one by one; each would cost about 1.5 s of work. */
const REMADE_AFTER_MS = 60_000;

/** Made when it is asked for and the lists have changed, up to once a minute. */
export function createCurrentPocket(deps: CurrentPocketDeps): CurrentPocket {
  const { clock, log, source } = deps;
  let made: { readonly file: PocketFile; readonly version: number } | undefined;
  let making: Promise<PocketFile> | undefined;
  let madeAtMs = -Infinity;
  const make = async (): Promise<PocketFile> => {
    const known = source();
    try {
      const file = await makePocket(known, deps);
      made = { file, version: known.datasets.version };
      return file;
    } finally {
      madeAtMs = clock.monotonicMs();
      making = undefined;
    }
  };
  return {
    async current() {
      if (made === undefined) return (making ??= make());
      const isOld = made.version !== source().datasets.version;
      if (isOld && making === undefined && clock.monotonicMs() - madeAtMs >= REMADE_AFTER_MS) {
        making = make();
        making.catch((fault: unknown) => log.error("pocket.make_failed", fault));
      }
      return made.file;
    },
  };
}
