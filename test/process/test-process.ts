import { argonPasswords } from "../../src/accounts/sign-in/passwords.ts";
import { type AccountStore, openAccountStore } from "../../src/main/store.ts";
import { Closing, openProcess, type Process, systemMachine } from "../../src/main/process.ts";
import { readConfig } from "../../src/main/settings/config.ts";
import { type KeptLog, keptLog } from "./kept-log.ts";
import { openMigrated } from "./migrated-database.ts";

/** A process with the settings of `environment` whose log is kept. */
export function testProcess(
  environment: Readonly<Record<string, string>>,
): Process & { readonly log: KeptLog } {
  const { clock, ids } = systemMachine;
  const config = readConfig(environment);
  const log = keptLog();
  return { config, machine: systemMachine, clock, ids, log, name: "test", closing: new Closing() };
}

/** argon2id as it is, at the least cost: the product's takes 23 ms of the processor for each password. */
const quickPasswords = {
  ...argonPasswords,
  hash: async (password: string) => {
    const { hash } = await import("@node-rs/argon2");
    return hash(password, { memoryCost: 8, timeCost: 1, parallelism: 1 });
  },
};

/** The store of an embedded database, as a command opens it; ":memory:" uses no file. */
export async function openTestStore(
  dataDir: string,
): Promise<AccountStore & { readonly close: () => Promise<void> }> {
  const config = { ...readConfig({}), dataDir };
  const machine = { ...systemMachine, openSqlite: openMigrated, passwords: quickPasswords };
  return openProcess(config, { machine, log: "silent" }, openAccountStore);
}
