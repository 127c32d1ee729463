import type { Clock } from "../../../ports/process/clock.ts";
import type { Log } from "../../../ports/process/log.ts";
import type { Ticket, Tickets } from "../../../ports/bulk/tickets.ts";

/** How often a worker looks for work without a notice. */
export const LOOK_EVERY_MS = 2_000;

export interface ClaimingDeps {
  readonly clock: Clock;
  readonly log: Log;
  /** Absent: every claim that finds something is followed by another. */
  readonly tickets?: Tickets;
  /** Whether the worker could take one more chunk. */
  readonly hasPlace: () => boolean;
  /** Claims a chunk; false when there was none. */
  readonly claimOne: () => Promise<boolean>;
}

/**
 * When a worker claims: once for each ticket; and without one, until a claim finds nothing, after a wake-up and
 * whenever no ticket came between two looks. So chunks that lost their ticket, or their worker, are found, and
 * workers go on while the queue of tickets is out of reach.
 */
export class Claiming {
  readonly #deps: ClaimingDeps;
  readonly #underWay = new Set<Promise<unknown>>();
  #isStopped = true;
  #isClaiming = false;
  /** Until a claim without a ticket finds nothing. */
  #mayBeMore = false;
  #ticketsTaken = 0;
  #ticketsAtLook = 0;
  #callOffLook = (): void => undefined;
  #tellOfPlace = (): void => undefined;

  constructor(deps: ClaimingDeps) {
    this.#deps = deps;
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  /** Since the start. */
  get ticketsTaken(): number {
    return this.#ticketsTaken;
  }

  start(): void {
    this.#isStopped = false;
    const { tickets } = this.#deps;
    if (tickets !== undefined) this.#watch(this.#follow(tickets));
    this.#look();
  }

  /** There may be work. */
  wake(): void {
    this.#mayBeMore = true;
    this.#claimAll();
  }

  /** There may be place again. */
  freed(): void {
    this.#claimAll();
    if (this.#deps.hasPlace()) this.#tellOfPlace();
  }

  /** A chunk ended, or owners were held back for their time: without tickets that is a time to look for another chunk. */
  mayFind(): void {
    if (this.#deps.tickets === undefined) this.#mayBeMore = true;
    this.freed();
  }

  /** Resolves when no claim is under way any more. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#callOffLook();
    this.#tellOfPlace();
    await this.#deps.tickets?.close();
    await Promise.all(this.#underWay);
  }

  #look(): void {
    const wasDry = this.#ticketsTaken === this.#ticketsAtLook;
    this.#ticketsAtLook = this.#ticketsTaken;
    // Where tickets flow they lead to every chunk in the end, and claims beside them would make them stale.
    if (wasDry) this.wake();
    else this.#mayBeMore = false;
    this.#callOffLook = this.#deps.clock.after(LOOK_EVERY_MS, () => this.#look());
  }

  #claimAll(): void {
    if (this.#isClaiming || !this.#mayBeMore || !this.#hasPlace()) return;
    this.#watch(this.#claimWhileThereIs());
  }

  /** One claim at a time. */
  async #claimWhileThereIs(): Promise<void> {
    this.#isClaiming = true;
    while (this.#mayBeMore && this.#hasPlace()) {
      this.#mayBeMore = false; // a wake-up during the claim counts
      if (await this.#claimOne()) this.#mayBeMore = true;
    }
    this.#isClaiming = false;
  }

  async #claimOne(): Promise<boolean> {
    try {
      return await this.#deps.claimOne();
    } catch (fault) {
      this.#deps.log.error("bulk.claim_failed", fault);
      return false;
    }
  }

  #hasPlace(): boolean {
    return !this.#isStopped && this.#deps.hasPlace();
  }

  /** Takes a ticket only with place for its chunk, so that others have what this worker could not begin. */
  async #follow(tickets: Tickets): Promise<void> {
    while (!this.#isStopped) {
      if (!this.#hasPlace()) {
        await new Promise<void>((resolve) => (this.#tellOfPlace = resolve));
        continue;
      }
      const ticket = await tickets.take();
      if (ticket !== undefined) await this.#use(ticket);
    }
  }

  async #use(ticket: Ticket): Promise<void> {
    this.#ticketsTaken += 1;
    if (!this.#isStopped) await this.#claimOne();
    this.#watch(ticket.done()); // while the next one is asked for
  }

  #watch(work: Promise<unknown>): void {
    this.#underWay.add(work);
    void work.finally(() => this.#underWay.delete(work));
  }
}
