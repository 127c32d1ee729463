import type { Passwords } from "./passwords.ts";
import type { Share } from "../../base/shares.ts";

/** Who asks when no caller does. */
const OPERATOR = "account:operator";

/** The same passwords, a few at a time and each caller in turn: each hash takes 19 MiB and a core. */
export function boundPasswords(passwords: Passwords, share: Share): Passwords {
  return {
    hash: (password, by = OPERATOR) => share.run(by, () => passwords.hash(password)),
    verify: (hash, password, by = OPERATOR) =>
      share.run(by, () => passwords.verify(hash, password)),
  };
}
