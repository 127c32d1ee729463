import type { Clock } from "../base/clock.ts";
import type { Log } from "../base/log.ts";

/** A file made of the lists in use. */
export interface CurrentFile<File> {
  /** Makes the first one; rejects when that fails. A later one is made in the background. */
  current(): Promise<File>;
}

export interface CurrentFileDeps<File> {
  /** Of the lists in use. */
  readonly version: () => number;
  /** Of the lists in use when it is called. */
  readonly make: () => Promise<File>;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Pick<Log, "error">;
  /** Of the log event: "published_list". */
  readonly name: string;
}

/** Changes of the operator come one by one; each would cost about 1.5 s of work. */
const REMADE_AFTER_MS = 60_000;

/** Made when it is asked for and the lists have changed, up to once a minute. */
export function createCurrentFile<File>(deps: CurrentFileDeps<File>): CurrentFile<File> {
  const { clock, log, name } = deps;
  let made: { readonly file: File; readonly version: number } | undefined;
  let making: Promise<File> | undefined;
  let madeAtMs = -Infinity;
  const make = async (): Promise<File> => {
    const version = deps.version();
    try {
      const file = await deps.make();
      made = { file, version };
      return file;
    } finally {
      madeAtMs = clock.monotonicMs();
      making = undefined;
    }
  };
  return {
    async current() {
      if (made === undefined) return (making ??= make());
      const isOld = made.version !== deps.version();
      if (isOld && making === undefined && clock.monotonicMs() - madeAtMs >= REMADE_AFTER_MS) {
        making = make();
        making.catch((fault: unknown) => log.error(`${name}.make_failed`, fault));
      }
      return made.file;
    },
  };
}
