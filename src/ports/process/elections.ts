/**
 * Who of several processes does what is done by one at a time. `duty` names it, `candidate` one process.
 * Rules are checked by `test/contracts/process/elections.ts`.
 */
export interface Elections {
  /**
   * Takes a duty that is free or renews it; false when another holds it. `nowMs` is the candidate's calendar, which
   * may differ from another's by `CLOCKS_APART_MS`: it is kept from others that much longer than `leaseMs`, while its
   * holder must stop `leaseMs` after it asked, by its own steady clock.
   */
  hold(
    duty: string,
    candidate: string,
    at: { readonly nowMs: number; readonly leaseMs: number },
  ): Promise<boolean>;
  /** The duty is free at once; nothing when another holds it. */
  resign(duty: string, candidate: string): Promise<void>;
}

/** So far calendars of two machines may be apart before two of them could hold one duty. */
export const CLOCKS_APART_MS = 10_000;
