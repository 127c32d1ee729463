import type { Passwords } from "../../ports/passwords.ts";
import { bodiesFull } from "../refusals.ts";

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
  const queue: (() => void)[] = [];
  let running = 0;
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= atOnce) {
      if (queue.length >= waiting) throw bodiesFull();
      await new Promise<void>((resolve) => queue.push(resolve)); // takes over a place, see below
    } else {
      running += 1;
    }
    try {
      return await work();
    } finally {
      const next = queue.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
  return {
    hash: (password) => inTurn(() => passwords.hash(password)),
    verify: (hash, password) => inTurn(() => passwords.verify(hash, password)),
  };
}
