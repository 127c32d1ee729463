import { effect, signal } from "@preact/signals";
import { session } from "./session.ts";

/** A key as the server answers it once, when it is made. */
export interface MadeKey {
  readonly id: string;
  readonly api_key: string;
  /** Of a publishable key alone. */
  readonly origins?: readonly string[];
}

/** The key made in this tab since it was loaded: samples hold it, so that they run as copied. */
export const freshKey = signal<MadeKey | undefined>(undefined);

let ownerId: string | undefined;

// One account's key must not appear in the samples of the next one at this browser.
effect(() => {
  const id = session.value?.account?.id;
  if (id !== ownerId) freshKey.value = undefined;
  ownerId = id;
});
