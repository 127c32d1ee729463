import { closeSync, fdatasync, openSync } from "node:fs";
import { promisify } from "node:util";
import { inRounds } from "../../base/rounds.ts";

export interface LogSync {
  /** Resolves when what was committed before the call outlives a power cut. Rejects from the first refusal of the disk on. */
  readonly synced: () => Promise<void>;
  /** What the disk refused with. Linux takes the pages for written then, so that later syncs say nothing. */
  readonly refusal: () => unknown;
  readonly refuse: (fault: unknown) => void;
  readonly isGone: () => boolean;
  readonly noteGone: (isGone: boolean) => void;
  readonly close: () => Promise<void>;
}

/** First octet: 1 from the first sync that the disk refused on. Second: 1 while the file is gone. */
export type Disk = SharedArrayBuffer;

export const newDisk = (): Disk => new SharedArrayBuffer(2);

interface SyncOptions {
  readonly sync?: (descriptor: number) => Promise<void>;
  readonly disk?: Disk;
}

const syncData = promisify(fdatasync);

/** Does what `synchronous = full` does at each commit, but without holding the thread, for 5 to 370 ms, and the file. */
export function logSync(
  log: string,
  { sync = syncData, disk = newDisk() }: SyncOptions = {},
): LogSync {
  const known = new Uint8Array(disk);
  let descriptor: number | undefined;
  let own: unknown;
  const refusal = (): unknown =>
    Atomics.load(known, 0) === 0 ? undefined : (own ?? new Error("another thread was refused"));
  const refuse = (fault: unknown): void => {
    own ??= fault;
    Atomics.store(known, 0, 1);
  };
  const write = async (): Promise<void> => {
    const before = refusal();
    if (before !== undefined) throw before;
    descriptor ??= openSync(log, "r+"); // some systems sync only what may be written
    try {
      await sync(descriptor);
    } catch (error) {
      refuse(error);
      throw error;
    }
  };
  const synced = inRounds(write);
  let last: Promise<void> = Promise.resolve();
  return {
    synced: () => (last = synced()),
    refusal,
    refuse,
    isGone: () => Atomics.load(known, 1) === 1,
    noteGone: (isGone) => void Atomics.store(known, 1, isGone ? 1 : 0),
    async close() {
      await last.catch(() => undefined);
      if (descriptor !== undefined) closeSync(descriptor);
    },
  };
}
