import type { Passwords } from "../../ports/account/passwords.ts";
import { Places } from "../../ports/process/places.ts";
import { signInsFull } from "../refusals.ts";

export interface PasswordBounds {
  /** Hashes computed at once; each takes 19 MiB and a core. */
  readonly atOnce: number;
  /** Callers that wait for their turn; one more is refused with 503. */
  readonly waiting: number;
}

const BOUNDS: PasswordBounds = { atOnce: 2, waiting: 64 };

/** The same passwords, a few at a time: a flood of sign-ins slows sign-ins, not the API beside them. */
export function boundPasswords(
  passwords: Passwords,
  { atOnce, waiting }: PasswordBounds = BOUNDS,
): Passwords {
  const places = new Places(atOnce, waiting);
  const full = (): never => {
    throw signInsFull();
  };
  return {
    hash: (password) => places.hold(() => passwords.hash(password), full),
    verify: (hash, password) => places.hold(() => passwords.verify(hash, password), full),
  };
}
