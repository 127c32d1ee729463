/** Files for the command line. `path` is as the user wrote it; "-" is standard input or output. */
export interface Files {
  /**
   * The file in slices of at most 64 KiB, no faster than they are taken. Ends early when `stop` is aborted,
   * also while it waits for input. Rejects when the file cannot be read.
   */
  read(path: string, stop: AbortSignal): AsyncIterable<Uint8Array>;
  /** Opens for writing behind the first `keepBytes`; what else is there is cut off. Made when missing. */
  write(path: string, keepBytes: number): Promise<FileWriter>;
  /** Undefined when there is no such file, and for "-". */
  stat(path: string): Promise<FileFacts | undefined>;
  /** A small text; undefined when there is no such file. */
  readText(path: string): Promise<string | undefined>;
  /** Replaces a small text whole or not at all. */
  replaceText(path: string, text: string): Promise<void>;
  /** No fault when it is gone already. */
  remove(path: string): Promise<void>;
}

export interface FileFacts {
  /** The same for two paths to one file. */
  readonly id: string;
  readonly sizeBytes: number;
  /** Milliseconds since the Unix epoch. */
  readonly modifiedMs: number;
}

export interface FileWriter {
  /** Resolves when there is room for more; returns how many bytes it came to. */
  write(text: string): Promise<number>;
  /** Resolves when all of it would outlive a power cut. */
  sync(): Promise<void>;
  close(): Promise<void>;
}
