import type { Settings } from "../e2e/service-process.ts";
import type { AccountStore } from "../../src/main/store.ts";

/** Where a service will be started. */
export interface Prepared {
  readonly directory: string;
  readonly store: AccountStore;
  readonly victimId: string;
  /** Of the accounts without a paid plan. */
  readonly freeIds: readonly string[];
}

/** What there is beside the service: servers of others that it asks or calls. */
export interface Outside {
  readonly settings: Settings;
  /** A check that the victim asks for. */
  readonly feature?: string;
  /** Before a service starts. */
  prepare(service: Prepared): Promise<void>;
  /** Resolves when the victim was told that this list is done. */
  readonly told?: (session: string) => Promise<void>;
  stop(): void;
}
