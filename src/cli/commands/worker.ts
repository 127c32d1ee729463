import { Command } from "commander";

/** `gatepost worker`: `work` resolves when the worker has stopped, and rejects without DATABASE_URL. */
export function workerCommand(work: () => Promise<void>): Command {
  return new Command("worker")
    .description("run bulk jobs and send webhooks, beside servers with the same DATABASE_URL")
    .action(work);
}
