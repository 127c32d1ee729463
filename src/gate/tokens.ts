import { createHash } from "node:crypto";
import { trimEntry } from "../core/address/address.ts";
import type { Decision, Verified } from "../core/policy/policy.ts";
import type { Accounts } from "../accounts/accounts-store.ts";
import type { Note } from "../accounts/audit.ts";
import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Log } from "../base/log.ts";
import type { Notices } from "../store/notices.ts";
import { type SecretBox, signedHs256 } from "../base/secrets.ts";
import type { Caller } from "../accounts/admission/caller.ts";

export interface TokenContent {
  readonly address: string;
  readonly decision: Decision;
  readonly reason: string;
  readonly policy: string;
  readonly form: string | undefined;
  readonly isComplete: boolean;
  readonly verified: Verified | undefined;
}

/** A compact JWS (RFC 7515, HS256) for the caller's account; undefined for a caller without a key. */
export type SignToken = (caller: Caller, content: TokenContent) => Promise<string | undefined>;

export interface TokensDeps {
  readonly accounts: Pick<Accounts, "change" | "agreeTokenSecret">;
  readonly box: SecretBox;
  readonly publicUrl: () => string;
  readonly clock: Pick<Clock, "nowMs">;
  readonly ids: Ids;
  readonly log: Pick<Log, "error">;
  readonly notices?: Pick<Notices, "tell">;
}

export type Tokens = ReturnType<typeof createTokens>;

const TYPE = "gatepost+jwt";
const TOKEN_SECONDS = 600;
const SECRET_BYTES = 32;
const OPENED_MAX = 1_000;

/** `renewSecret` gives the account's new secret, which is not shown again; the old one ends at once. */
export function createTokens(deps: TokensDeps): {
  readonly sign: SignToken;
  readonly renewSecret: (accountId: string, note?: Note) => Promise<string>;
} {
  const { accounts, box, ids, log, notices } = deps;
  const about = (accountId: string): string => `token secret ${accountId}`;
  const newSecret = (): string =>
    `gp_sign_${Buffer.from(ids.bytes(SECRET_BYTES)).toString("base64url")}`;
  const opened = new Map<string, string | undefined>();
  const open = (accountId: string, sealed: string): string | undefined => {
    if (opened.has(sealed)) return opened.get(sealed);
    const secret = box.open(sealed, about(accountId));
    if (secret === undefined) {
      const fault = new Error(
        "the token secret was sealed with another secret key: make a new one",
      );
      log.error("token_secret.unreadable", fault, { account: accountId });
    }
    if (opened.size >= OPENED_MAX) opened.clear();
    opened.set(sealed, secret);
    return secret;
  };
  return {
    async sign({ owner, keyId, tokenSecret }, content) {
      if (owner.kind !== "account" || keyId === undefined) return undefined;
      const { accountId } = owner;
      const first = (): Promise<string | undefined> =>
        accounts.agreeTokenSecret(accountId, box.seal(newSecret(), about(accountId)));
      const sealed = tokenSecret ?? (await first());
      const secret = sealed === undefined ? undefined : open(accountId, sealed);
      return secret && signedHs256(TYPE, claimsOf(content, { accountId, keyId }, deps), secret);
    },
    async renewSecret(accountId, note) {
      const secret = newSecret();
      const token_secret = box.seal(secret, about(accountId));
      await accounts.change(accountId, { token_secret });
      notices?.tell("accounts");
      await note?.({ action: "account.token_secret", accountId });
      return secret;
    },
  };
}

function claimsOf(
  content: TokenContent,
  { accountId, keyId }: { readonly accountId: string; readonly keyId: string },
  { publicUrl, clock, ids }: TokensDeps,
): object {
  const iat = Math.floor(clock.nowMs() / 1_000);
  return {
    iss: publicUrl(),
    aud: accountId,
    iat,
    exp: iat + TOKEN_SECONDS,
    jti: ids.hex32(),
    sub: createHash("sha256").update(trimEntry(content.address)).digest("base64url"),
    dec: content.decision,
    rsn: content.reason,
    pol: content.policy,
    key: keyId,
    form: content.form,
    cpl: content.isComplete,
    ver: content.verified,
  };
}
