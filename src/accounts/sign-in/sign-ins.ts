import { createHash } from "node:crypto";
import { DAY_MS } from "../../core/calendar.ts";
import type { Account, Accounts } from "../account.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { SignIn, SignIns } from "./sign-in-records.ts";

/** A sign-in ends after this time without use. */
export const IDLE_MS = 14 * DAY_MS;

/** Used or not, it is over then. */
export const LIFE_MS = 90 * DAY_MS;

/** How exactly "last seen" is kept: every request would be a write. */
const TOUCH_AFTER_MS = 5 * 60_000;

const TOKEN_BYTES = 32;
const USER_AGENT_MAX = 300;

/** 43 characters of base64url: 32 random bytes. */
const TOKEN_SHAPE = /^[\w-]{43}$/;

/** Where a request comes from. */
export interface Visitor {
  readonly clientAddress: string;
  readonly userAgent: string;
}

export interface SignedIn {
  readonly account: Account;
  readonly session: SignIn;
}

export interface StartedSession {
  readonly session: SignIn;
  /** For the cookie; kept nowhere. */
  readonly token: string;
}

export interface SignInDeps {
  readonly sessions: SignIns;
  readonly accounts: Pick<Accounts, "find">;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "nowMs">;
}

/** Browsers that are signed in. */
export interface SignInService {
  start(account: Pick<Account, "id">, visitor: Visitor): Promise<StartedSession>;
  /** Whose token it is; undefined for a malformed, unknown or expired one. */
  identify(token: string, visitor: Visitor): Promise<SignedIn | undefined>;
}

const hashOf = (token: string): string => createHash("sha256").update(token).digest("hex");

export function createSignIns(deps: SignInDeps): SignInService {
  return {
    start: (account, visitor) => start(account, visitor, deps),
    async identify(token, visitor) {
      if (!TOKEN_SHAPE.test(token)) return undefined;
      const session = await deps.sessions.find(hashOf(token), deps.clock.nowMs());
      const account = session && (await deps.accounts.find(session.accountId));
      if (session === undefined || account === undefined) return undefined;
      await touch(session, visitor, deps);
      return { account, session };
    },
  };
}

async function start(
  account: Pick<Account, "id">,
  visitor: Visitor,
  { sessions, ids, clock }: SignInDeps,
): Promise<StartedSession> {
  const token = Buffer.from(ids.bytes(TOKEN_BYTES)).toString("base64url");
  const nowMs = clock.nowMs();
  const session: SignIn = {
    id: ids.hex32(),
    accountId: account.id,
    createdAtMs: nowMs,
    lastSeenAtMs: nowMs,
    expiresAtMs: nowMs + IDLE_MS,
    clientAddress: visitor.clientAddress,
    userAgent: visitor.userAgent.slice(0, USER_AGENT_MAX),
  };
  await sessions.create({ ...session, tokenHash: hashOf(token) });
  return { session, token };
}

async function touch(
  session: SignIn,
  { clientAddress }: Visitor,
  { sessions, clock }: SignInDeps,
): Promise<void> {
  const nowMs = clock.nowMs();
  const isFresh = nowMs - session.lastSeenAtMs < TOUCH_AFTER_MS;
  if (isFresh && clientAddress === session.clientAddress) return;
  const expiresAtMs = Math.min(session.createdAtMs + LIFE_MS, nowMs + IDLE_MS);
  await sessions.touch(session.id, { lastSeenAtMs: nowMs, expiresAtMs, clientAddress });
}
