/** What a process under test is told by its environment. */
export interface Fate {
  /** A file with an `Order`, read by the main thread at SIGUSR2 and by the bulk thread at its start. */
  readonly KILL_ORDER: string;
  readonly KILL_RECEIVER_PORT: string;
  /** The embedded database, and a file that gets a line whenever its log was written and synced. */
  readonly KILL_DATABASE?: string;
  readonly KILL_SYNCED?: string;
}

/** An end at a statement in the store. */
export interface Order {
  readonly thread: "main" | "bulk";
  readonly count: number;
  /** On PostgreSQL a statement is over when it was sent. */
  readonly when: "before" | "after";
}

/** Of the receiver of webhooks: public, and in its certificate. The process under test finds it on loopback. */
export const RECEIVER_ADDRESS = "198.51.101.7";
