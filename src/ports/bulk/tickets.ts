/**
 * Tickets of a queue that many workers share: each stands for one claim that is worth trying, of whatever chunk
 * the database then gives. They may be lost, stale or double, for the chunks in the database are the truth.
 */
export interface Tickets {
  /**
   * Waits for the next ticket, which is then this worker's. Undefined when none came for some seconds; a queue
   * that is out of reach takes as long to say so. Never rejects. One call at a time.
   */
  take(): Promise<Ticket | undefined>;
  /** Ends a `take` under way with undefined. */
  close(): Promise<void>;
}

export interface Ticket {
  /** The claim was tried: from here on the lease in the database answers for the chunk. Never rejects. */
  done(): Promise<void>;
}
