import type { Clock } from "../../ports/process/clock.ts";
import type { Ids } from "../../ports/process/ids.ts";
import type { ApiKey, Keys } from "../../ports/admission/keys.ts";
import type { Notices } from "../../ports/process/notices.ts";
import { hashApiKey, makeApiKey, shownParts } from "../admission/api-key.ts";

export interface KeyServiceDeps {
  /** Hears of what changed here; absent: others find out by themselves, within 5 s. */
  readonly notices?: Pick<Notices, "tell">;
  readonly keys: Keys;
  readonly ids: Ids;
  readonly clock: Pick<Clock, "nowMs">;
}

/** Keys in force that an account may have. */
export const KEYS_MAX = 100;

/** Characters of a key's name. */
export const KEY_NAME_MAX = 100;

export type KeyAnswer =
  /** The only time that the key itself is seen. */
  | { readonly kind: "created"; readonly key: ApiKey; readonly apiKey: string }
  | { readonly kind: "bad_name" }
  | { readonly kind: "too_many" };

export interface KeyService {
  /** For an account that exists. */
  create(accountId: string, name: string): Promise<KeyAnswer>;
  /** Oldest first, revoked ones included. */
  list(accountId: string): Promise<readonly ApiKey[]>;
  /** By its id, revoked or not. */
  find(keyId: string): Promise<ApiKey | undefined>;
  /** Refused everywhere within 5 s, for good. False when there is no such key. */
  revoke(keyId: string): Promise<boolean>;
}

/** Names are shown in terminals and tables: one line, nothing invisible. */
const UNFIT = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export function createKeyService({ keys, ids, clock, notices }: KeyServiceDeps): KeyService {
  return {
    async create(accountId, text) {
      const name = text.trim();
      if (name === "" || name.length > KEY_NAME_MAX || UNFIT.test(name))
        return { kind: "bad_name" };
      const apiKey = makeApiKey(ids);
      const id = ids.hex32();
      const key: ApiKey = {
        id,
        accountId,
        name,
        ...shownParts(apiKey),
        createdAtMs: clock.nowMs(),
      };
      const isMade = await keys.create({ ...key, hash: hashApiKey(apiKey) }, KEYS_MAX);
      return isMade ? { kind: "created", key, apiKey } : { kind: "too_many" };
    },
    list: (accountId) => keys.list(accountId),
    find: (keyId) => keys.find(keyId),
    async revoke(keyId) {
      const isRevoked = await keys.revoke(keyId, clock.nowMs());
      if (isRevoked) notices?.tell("accounts");
      return isRevoked;
    },
  };
}
