import type { OwnerKey } from "../../base/owner.ts";

/** Slow hashing of passwords. `by`: who asks for it; absent: the operator. */
export interface Passwords {
  /** A PHC string; another one on every call. */
  hash(password: string, by?: OwnerKey): Promise<string>;
  /** False for a wrong password and for a hash that cannot be read. */
  verify(hash: string, password: string, by?: OwnerKey): Promise<boolean>;
}
