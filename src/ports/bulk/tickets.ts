/**
 * Tickets of a queue that many workers share: each entitles to one claim, of whichever chunk
 * the database then gives. They may be lost, stale or double, because the chunks in the database are the truth.
 */
export interface Tickets {
  /**
   * Waits for the next ticket, which is then this worker's. Undefined when none came for some seconds; a queue
   * that does not answer takes the same time. Never rejects. One call at a time.
   */
  take(): Promise<Ticket | undefined>;
  /** Ends a `take` under way with undefined. */
  close(): Promise<void>;
}

export interface Ticket {
  /** The claim was tried: from here on the lease in the database answers for the chunk. Never rejects. */
  done(): Promise<void>;
}
