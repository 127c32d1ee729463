import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Log } from "../../base/log.ts";
import type { Config } from "../settings/config.ts";
import { Closing } from "./closing.ts";
import { type Machine, systemMachine } from "./machine.ts";
import { processName } from "./process-name.ts";

/** What every server, worker and command has, and what opens all of its other parts. */
export interface Process {
  readonly config: Config;
  readonly machine: Machine;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Of this process alone, new with each start; in logs, metrics, leases and elections. */
  readonly name: string;
  /** Code that opens a resource adds its close function. */
  readonly closing: Closing;
}

export interface ProcessOptions {
  readonly machine?: Machine;
  /** `silent`: for commands, which speak to a person and write no log. */
  readonly log?: "by_level" | "silent";
}

/**
 * Opens what `start` opens, and returns what it returned with `close`, which closes all of it, newest first. When the
 * start fails half way, all that it had opened is closed before the fault is thrown.
 */
export async function openProcess<T extends object>(
  config: Config,
  { machine = systemMachine, log = "by_level" }: ProcessOptions,
  start: (process: Process) => Promise<T>,
): Promise<T & { readonly close: () => Promise<void> }> {
  const { clock, ids } = machine;
  const level = log === "silent" ? log : config.logLevel;
  const closing = new Closing();
  const process: Process = {
    config,
    machine,
    clock,
    ids,
    log: machine.openLog(level),
    name: processName(ids),
    closing,
  };
  try {
    return { ...(await start(process)), close: () => closing.close() };
  } catch (fault) {
    // The fault of the start says what is wrong; one of closing would only follow from it.
    await closing.close().catch((after: unknown) => process.log.error("start.close_failed", after));
    throw fault;
  }
}
