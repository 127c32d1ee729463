/** Files for the command line. `path` is as the user wrote it; "-" is standard input or output. */
export interface Files {
  /**
   * The file in slices of at most 64 KiB, no faster than they are taken. Ends early when `stop` is aborted,
   * also while it waits for input. Rejects when the file cannot be read.
   */
  read(path: string, stop: AbortSignal): AsyncIterable<Uint8Array>;
  /** Opens for writing. A file that exists is a fault unless it may be `replaced`; devices and pipes are written to. */
  write(path: string, existing: "refused" | "replaced"): Promise<FileWriter>;
  /** Undefined when there is no such file, and for "-". */
  stat(path: string): Promise<FileFacts | undefined>;
}

export interface FileFacts {
  /** The same for two paths to one file. */
  readonly id: string;
  readonly sizeBytes: number;
  /** False for devices, pipes and folders. */
  readonly isFile: boolean;
}

export interface FileWriter {
  /** Resolves when there is room for more. */
  write(text: string): Promise<void>;
  close(): Promise<void>;
}
