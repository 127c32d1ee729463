import type { Log } from "../../ports/process/log.ts";
import type { Backing } from "./backing.ts";
import type { Config } from "../settings/config.ts";
import { openEmbeddedBacking } from "./embedded.ts";

/** By the settings: many processes with DATABASE_URL and REDIS_URL, else one. */
export async function openBacking(config: Config, log: Log): Promise<Backing> {
  const { databaseUrl, redisUrl } = config;
  if (databaseUrl === undefined || redisUrl === undefined) return openEmbeddedBacking(config, log);
  // Loaded here, so that a single process starts without drivers that it does not use.
  const { openScaledBacking } = await import("./scaled.ts");
  return openScaledBacking({ databaseUrl, redisUrl }, log);
}
