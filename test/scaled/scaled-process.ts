// A process of the scale-out under test: `serve` or `worker` as the program starts them. It prints, one JSON text a
// line, that it is ready, and that it received a signal to stop.
import { readConfig } from "../../src/main/settings/config.ts";
import { SharedCap } from "../../src/dns/flow/window.ts";
import { type Machine, systemMachine } from "../../src/main/process.ts";
import { startServer } from "../../src/main/service.ts";
import { untilStopped } from "../../src/main/terminal.ts";
import { startWorker } from "../../src/main/worker.ts";

export interface ScaledProcessOrder {
  readonly command: "serve" | "worker";
  /** Workers only: largest number of open DNS questions. */
  readonly dnsWindowMax?: number;
}

const narrow = (cap: SharedCap): Machine => ({
  ...systemMachine,
  openResolver: (options) => systemMachine.openResolver({ ...options, cap }),
});

export type ProcessLine =
  { readonly kind: "ready"; readonly url: string } | { readonly kind: "stopping" };

// As in gatepost.ts: timers of ours keep no process alive, and a start may wait for nothing else.
const alive = setInterval(() => undefined, 60_000);
const order = JSON.parse(process.argv[2] ?? "{}") as ScaledProcessOrder;
const config = readConfig(process.env);
const machine =
  order.dnsWindowMax === undefined ? systemMachine : narrow(new SharedCap(order.dnsWindowMax));
const running = await (order.command === "serve"
  ? startServer(config)
  : startWorker(config, machine));
const say = (line: ProcessLine): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
say({ kind: "ready", url: running.url ?? "" });
await untilStopped();
say({ kind: "stopping" });
await running.stop();
clearInterval(alive);
