import type { CompletedBatch, NewBatch } from "./batches.ts";
import type { Charge, ChargeTerms, Unpaid } from "../accounts/admission/charges.ts";

/** A batch to be queued. */
export interface JobOrder extends NewBatch {
  /** The tier includes the spam trap check. */
  readonly spamTrap: boolean;
  /** How long after the acceptance of the owner's last job the next may come; 0: at once. */
  readonly cooldownMs: number;
  /** Entries not yet checked, of all owners and this batch together, at most. */
  readonly bufferMax: number;
}

/** `full` is the buffer. Every outcome except `accepted` leaves no row and no charge. */
export type JobOutcome =
  | { readonly kind: "accepted"; readonly charge: Charge }
  | { readonly kind: "running" }
  | { readonly kind: "cooldown"; readonly untilMs: number }
  | Unpaid
  | { readonly kind: "full" };

/** What stands before a new job. */
export interface QueueAhead {
  /** Entries not yet checked of each running job. */
  readonly openEntries: readonly number[];
  /** Entries that the workers checked in the last seconds; undefined if none has reported. */
  readonly entriesPerSecond: number | undefined;
}

/** Queued batches, seen from where they are made and ended. Rules: `test/contracts/bulk/jobs.ts`. */
export interface Jobs {
  /**
   * Takes the owner's one slot, charges and stores, all or nothing. Refuses in this order: a job is running,
   * cooldown, unpaid, full.
   */
  create(order: JobOrder, terms: ChargeTerms): Promise<JobOutcome>;
  queueAhead(nowMs: number): Promise<QueueAhead>;
  /**
   * Cancels a job or forgets a finished batch: its entries and results are deleted, what was not checked is
   * refunded, the slot is free. False when the session is not there any more.
   */
  remove(session: string, nowMs: number): Promise<boolean>;
  /** Fails jobs that keep killing their workers, with refund and freed slot; returns how many. */
  failStuck(nowMs: number): Promise<number>;
  /** One completed batch that was not announced, each at most once; undefined if there is none. */
  takeCompleted(nowMs: number): Promise<CompletedBatch | undefined>;
}
