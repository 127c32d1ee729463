import type { Passwords } from "./passwords.ts";

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
