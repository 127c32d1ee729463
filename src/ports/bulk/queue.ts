/** A job that was accepted. */
export interface NewWork {
  readonly session: string;
  readonly chunks: number;
}

/**
 * Wakes workers. A wake-up may be lost or come twice: the chunks in the database are the truth, and
 * workers look there by themselves every few seconds.
 */
export interface Queue {
  /** There is work. Rejects when the queue is out of reach. */
  wake(work: NewWork): Promise<void>;
}
