import { hash, verify } from "@node-rs/argon2";
import type { Passwords } from "../../ports/passwords.ts";

/** argon2id with 19 MiB, two passes, one lane: the least that OWASP's password storage page asks for. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

export const argonPasswords: Passwords = {
  hash: (password) => hash(password, COST),
  verify: async (known, password) => {
    try {
      return await verify(known, password);
    } catch {
      return false; // not a PHC string of argon2: no password fits it
    }
  },
};
