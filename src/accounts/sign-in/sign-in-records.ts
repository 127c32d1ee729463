/** A browser that is signed in to an account. */
export interface SignIn {
  readonly id: string;
  readonly accountId: string;
  readonly createdAtMs: number;
  /** To five minutes or so. */
  readonly lastSeenAtMs: number;
  /** At this instant it is over, used or not. */
  readonly expiresAtMs: number;
  /** Where it was last used from. */
  readonly clientAddress: string;
  /** As the browser named itself at sign-in, cut. */
  readonly userAgent: string;
}

export interface NewSignIn extends SignIn {
  /** SHA-256 of the token in the cookie, lower-case hex. */
  readonly tokenHash: string;
}

/** Signed-in browsers. Rules are checked by `test/contracts/account/sign-ins.ts`. */
export interface SignIns {
  /** Beyond 100 of an account the longest unused end. */
  create(session: NewSignIn): Promise<void>;
  /** Never an expired one, pruned or not. */
  find(tokenHash: string, nowMs: number): Promise<SignIn | undefined>;
  /** Notes where and when it was used, and puts off its end. */
  touch(
    id: string,
    seen: Pick<SignIn, "lastSeenAtMs" | "expiresAtMs" | "clientAddress">,
  ): Promise<void>;
  /** Not expired, last seen first. */
  list(accountId: string, nowMs: number): Promise<readonly SignIn[]>;
  /** False when the account has no such session. */
  end(accountId: string, id: string): Promise<boolean>;
  /** Ends all sessions of the account but `keptId`; returns how many. */
  endAll(accountId: string, keptId?: string): Promise<number>;
  /** Deletes what has expired; returns how many. */
  prune(nowMs: number): Promise<number>;
}
