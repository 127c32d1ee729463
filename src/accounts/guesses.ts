export interface GuessTaking {
  /** False: a delay runs, and nothing was counted. */
  readonly isGranted: boolean;
  readonly tries: number;
  /** Milliseconds until the next try is granted. */
  readonly waitMs: number;
}

/**
 * Tries of a password, by what is guessed. Ten in an hour are free; each further one starts a delay that doubles from
 * 10 s to 15 min. An hour without a try forgets them. Rules are checked by `test/contracts/account/guesses.ts`.
 */
export interface Guesses {
  /** Counts a try before it is looked at, in one step: of a thousand at once no more are granted. */
  take(key: string, nowMs: number): Promise<GuessTaking>;
  /** The try was right: it does not count, and its delay ends. */
  giveBack(key: string): Promise<void>;
  /** Addresses from which somebody signed in to the account, newest first. */
  places(accountId: string): Promise<readonly string[]>;
  /** Forgets what was last tried before then; returns how many. */
  prune(beforeMs: number): Promise<number>;
}
