import type { Clock } from "../../base/clock.ts";
import { storeDownOf } from "../../base/store-down.ts";
import { readFact, replaceFact } from "../../store/installation.ts";
import { findRow } from "../../store/rows.ts";
import type { Db } from "../../store/schema.ts";
import type { QuotaCounter } from "../admission/counters.ts";
import { type AccountService, checkAccount } from "../accounts.ts";
import { bucketKey, bucketOf } from "../admission/caller.ts";
import { setUpOpen, signUpClosed, signUpsSpent } from "../../base/refusals.ts";
import type { Audit } from "../audit.ts";
import type { Visitor } from "./sign-ins.ts";

/** Accounts that one address bucket may make in a UTC day; known e-mail addresses count too. */
const SIGN_UPS_PER_DAY = 3;

type SignUpMode = "open" | "closed";

/** At most as old as another server's switch is unknown here. */
const READ_EVERY_MS = 1_000;

interface SwitchDeps {
  readonly db: Db;
  readonly fixed: SignUpMode | undefined;
  readonly clock: Pick<Clock, "monotonicMs">;
}

/**
 * Whether visitors may make accounts: as the setting says, or as an administrator switched it for all servers. Unswitched it
 * is closed from the first administrator on.
 */
export class SignUpSwitch {
  readonly #deps: SwitchDeps;
  #known: SignUpMode = "closed";
  #readMs = -Infinity;

  constructor(deps: SwitchDeps) {
    this.#deps = deps;
  }

  get isFixed(): boolean {
    return this.#deps.fixed !== undefined;
  }

  async mode(): Promise<SignUpMode> {
    const { db, fixed, clock } = this.#deps;
    if (fixed !== undefined) return fixed;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#readMs < READ_EVERY_MS) return this.#known;
    try {
      const switched = await readFact(db, "signup");
      const isOpen = switched === undefined ? !(await hasAdministrator(db)) : switched === "open";
      this.#known = isOpen ? "open" : "closed";
      this.#readMs = nowMs;
    } catch (fault) {
      if (storeDownOf(fault) === undefined) throw fault;
    }
    return this.#known;
  }

  async set(mode: SignUpMode): Promise<void> {
    await replaceFact(this.#deps.db, "signup", mode);
    this.#readMs = -Infinity;
  }
}

const hasAdministrator = async (db: Db): Promise<boolean> =>
  (await findRow(db, "accounts", { admin: 1 })) !== undefined;

interface SignUpDeps {
  readonly signUps: Pick<SignUpSwitch, "mode">;
  /** The link for the first administrator is open: who signed up now could be taken for the operator. */
  readonly setUp: { readonly isOpen: () => Promise<boolean> };
  readonly accounts: Pick<AccountService, "create">;
  readonly quotas: Pick<QuotaCounter, "take">;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "nowMs">;
}

/** Makes a free account. The answer never tells whether the e-mail address was known; throws a `Refusal`. */
export type SignUp = (email: string, password: string, visitor: Visitor) => Promise<void>;

export function createSignUp(deps: SignUpDeps): SignUp {
  const { signUps, setUp, accounts, quotas, audit, clock } = deps;
  return async (email, password, { clientAddress }) => {
    if ((await signUps.mode()) === "closed") throw signUpClosed();
    if (await setUp.isOpen()) throw setUpOpen();
    checkAccount(email, password);
    // The prefix makes the day's count go with those of anonymous address buckets.
    const owner = `bucket:sign-up:${bucketOf(clientAddress).bucket}`;
    const limits = { daily: SIGN_UPS_PER_DAY, monthly: null };
    const taken = await quotas.take(owner, 1, limits, clock.nowMs());
    if (taken.kind === "spent") throw signUpsSpent(SIGN_UPS_PER_DAY);
    const by = bucketKey(clientAddress);
    const order = { email, password, tier: "free", origin: "signup", isAdmin: false, by } as const;
    const answer = await accounts.create(order);
    if (answer.kind !== "created") return; // "email_taken": nothing happened, and nobody is told
    const { id } = answer.account;
    await audit({ action: "account.created", actorId: id, accountId: id, clientAddress });
  };
}
