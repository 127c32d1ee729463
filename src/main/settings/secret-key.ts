import type { SqlDatabase } from "../../store/database.ts";
import { sqlInstallation } from "../../store/installation.ts";
import { keyFingerprint, loadSecretKey } from "../../base/secrets.ts";
import type { Config } from "./config.ts";

type KeyConfig = Pick<Config, "secretKey" | "dataDir">;
type Store = Pick<SqlDatabase, "db">;

/**
 * The secret key of the settings or the data directory. Throws a sentence when the database was used with another
 * one: its webhook secrets would be unreadable and its hashes of addresses never found, and what is written now
 * would be so for the processes that have the right key.
 */
export async function openSecretKey(config: KeyConfig, { db }: Store): Promise<Uint8Array> {
  const key = loadSecretKey(config.secretKey, config.dataDir);
  const fingerprint = keyFingerprint(key);
  if ((await sqlInstallation(db).agree("secret_key", fingerprint)) === fingerprint) return key;
  const which =
    config.secretKey === undefined ? `secret.key in ${config.dataDir}` : "GATEPOST_SECRET_KEY";
  throw new Error(
    `${which} is not the key that this database is used with. Every process needs that one; ` +
      "if it is lost, run `gatepost migrate --new-secret-key` to use this one (docs/operations/secrets.md)",
  );
}

/** From now on the database is used with the key of the settings; what the old one sealed stays sealed. */
export async function adoptSecretKey(config: KeyConfig, { db }: Store): Promise<void> {
  const key = loadSecretKey(config.secretKey, config.dataDir);
  await sqlInstallation(db).replace("secret_key", keyFingerprint(key));
}
