import type { OwnerKey } from "../../base/owner.ts";
import type { Share } from "../../base/shares.ts";

/** Slow hashing of passwords. `by`: who asks for it; absent: the operator. */
export interface Passwords {
  hash(password: string, by?: OwnerKey): Promise<string>;
  verify(hash: string, password: string, by?: OwnerKey): Promise<boolean>;
}

/** argon2id with 19 MiB, two passes, one lane: the least that OWASP's password storage page asks for. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** A native library: loaded for the first password, not for every start and command. */
const argon2 = () => import("@node-rs/argon2");

export const argonPasswords: Passwords = {
  hash: async (password) => (await argon2()).hash(password, COST),
  verify: async (known, password) => {
    const { verify } = await argon2();
    try {
      return await verify(known, password);
    } catch {
      return false; // not a PHC string of argon2: no password fits it
    }
  },
};

const OPERATOR = "account:operator";

/** The same passwords, a few at a time and each caller in turn: each hash takes 19 MiB and a core. */
export function boundPasswords(passwords: Passwords, share: Share): Passwords {
  return {
    hash: (password, by = OPERATOR) => share.run(by, () => passwords.hash(password)),
    verify: (hash, password, by = OPERATOR) =>
      share.run(by, () => passwords.verify(hash, password)),
  };
}
