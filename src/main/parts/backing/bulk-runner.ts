import type { BulkFigures } from "../../threads/bulk-thread.ts";
import type { SharedDatasets } from "../../../lists/shared-datasets.ts";
import type { Log } from "../../../base/log.ts";

export interface BulkRunnerParts {
  /** The evidence on names that checks need. */
  readonly datasets: SharedDatasets;
  /** Keys the hashes of addresses on the operator's lists. */
  readonly secretKey: Uint8Array;
  readonly log: Log;
  /** A job that ran here completed. */
  readonly completed: () => void;
}

/** Where queued jobs go. */
export interface BulkRunner {
  /** A job was queued. */
  wake(): void;
  /** Jobs or sessions are stored: wakes their worker. */
  rouse(): void;
  /** The lists were refreshed. */
  use(datasets: SharedDatasets): void;
  /** Of its own worker; absent where workers are elsewhere, undefined before it reports. */
  readonly figures?: () => BulkFigures | undefined;
  /** Hands jobs back; to be called before the database is closed. */
  stop(): Promise<void>;
}
