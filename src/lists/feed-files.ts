/** A file of the lists as machines share it. */
export interface SharedFile {
  readonly name: string;
  /** Changes with the content. */
  readonly version: string;
  /** Packed; at most `SHARED_BYTES_MAX`. */
  readonly content: Uint8Array;
  readonly changedAtMs: number;
}

/** More is neither stored nor read. */
export const SHARED_BYTES_MAX = 8 * 1_048_576;

/**
 * Files of the lists that all machines share. Every call ends in bounded time. Rules are checked by
 * `test/contracts/evidence/feed-files.ts`.
 */
export interface FeedFiles {
  /** Of every file by its name; cheap enough for every few seconds. */
  versions(): Promise<ReadonlyMap<string, string>>;
  /** Undefined when there is none, or one that is too large. */
  read(name: string): Promise<SharedFile | undefined>;
  /** False, and nothing is written, when what is there is not `replaces`: another wrote meanwhile. */
  write(file: SharedFile, replaces: string | undefined): Promise<boolean>;
}
