// A process of the scale-out under test: `serve` or `worker` as the program starts them. It may kill itself
// when it reaches a checkpoint for the n-th time. It prints, one JSON text a line, that it is ready, and
// that it received a signal to stop.
import { readConfig } from "../../src/main/settings/config.ts";
import { startServer } from "../../src/main/server.ts";
import { untilStopped } from "../../src/main/process/until-stopped.ts";
import { startWorker } from "../../src/main/worker.ts";
import { type Checkpoint, passThrough } from "../../src/ports/bulk/checkpoint.ts";

export interface ScaledProcessOrder {
  readonly command: "serve" | "worker";
  /** Kill this process when it reaches a stage for the n-th time. */
  readonly dieAt?: { readonly stage: string; readonly times: number };
  /** Workers only: largest number of open DNS questions. */
  readonly dnsWindowMax?: number;
  /** Workers only: how they learn of chunks. */
  readonly feed?: "tickets" | "database";
}

export type ProcessLine =
  { readonly kind: "ready"; readonly url: string } | { readonly kind: "stopping" };

const order = JSON.parse(process.argv[2] ?? "{}") as ScaledProcessOrder;
const { command, dieAt } = order;
let passed = 0;
const dying: Checkpoint = (stage) => {
  if (stage !== dieAt?.stage) return;
  passed += 1;
  if (passed === dieAt.times) process.kill(process.pid, "SIGKILL");
};
const checkpoint = dieAt === undefined ? passThrough : dying;
const config = readConfig(process.env);
const running =
  command === "serve"
    ? await startServer(config, { checkpoint })
    : await startWorker(config, { ...order, checkpoint });
const say = (line: ProcessLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
say({ kind: "ready", url: running.url ?? "" });
await untilStopped();
say({ kind: "stopping" });
await running.stop();
