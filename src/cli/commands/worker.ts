import { Command } from "commander";

/** `gatepost worker`: `work` resolves when the worker has stopped, and rejects where there is nothing for it. */
export function workerCommand(work: () => Promise<void>): Command {
  return new Command("worker")
    .description("work off bulk jobs and send webhooks beside servers on the same DATABASE_URL")
    .action(work);
}
