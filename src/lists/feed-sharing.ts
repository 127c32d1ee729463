/** Keeps the list files of this machine and the other machines equal. */
export interface FeedSharing {
  /** This process changed these files; the next `sync` shares them, unless another machine's came first. */
  changed(names: readonly string[]): void;
  /** The next `sync` shares what the data directory holds too where nothing whole was shared. */
  offer(): void;
  /**
   * Shares what changed here and takes what changed elsewhere; a new generation in the data directory says that
   * lists came. Never rejects: what could not be done is logged once and done at a later call.
   */
  sync(): Promise<void>;
}
