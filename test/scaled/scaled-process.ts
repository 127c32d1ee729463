// A process of the scale-out under test: `serve` or `worker` as the program starts them, which may kill itself
// the n-th time it comes to a checkpoint. Says on standard output, one JSON text a line, that it is ready, and
// that it was told to stop.
import { readConfig } from "../../src/main/settings/config.ts";
import { startServer } from "../../src/main/server.ts";
import { untilStopped } from "../../src/main/process/until-stopped.ts";
import { startWorker } from "../../src/main/worker.ts";
import { type Checkpoint, passThrough } from "../../src/ports/bulk/checkpoint.ts";

export interface ScaledProcessOrder {
  readonly command: "serve" | "worker";
  /** Kill this process the n-th time it comes to a stage. */
  readonly dieAt?: { readonly stage: string; readonly times: number };
  /** Workers only: DNS questions under way at once, at most. */
  readonly dnsWindowMax?: number;
  /** Workers only: where they hear of chunks. */
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
