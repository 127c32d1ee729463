import { openBulkStores } from "./bulk-stores.ts";
import { jobsContract } from "./jobs.ts";
import { retryKeysContract, sessionStoreContract } from "./session-store.ts";

jobsContract("SQLite", (t) => openBulkStores(t));
sessionStoreContract("SQLite", (t) => openBulkStores(t));
retryKeysContract("SQLite", (t) => openBulkStores(t));
