import { Counter, Gauge, type Registry } from "prom-client";
import type { BulkWorker, WorkerFigures } from "../../bulk/worker/worker.ts";

const COUNTED = ["taken", "stored", "late", "postponed", "failed"] as const;

/** Figures of a bulk worker, read when the page is asked for. */
export function watchWorker(
  registry: Registry,
  name: string,
  worker: Pick<BulkWorker, "figures">,
): void {
  const registers = [registry];
  new Gauge({
    name: "gatepost_worker_info",
    help: "1, with the name of this worker, which is new with each start.",
    labelNames: ["worker"],
    registers,
  }).set({ worker: name }, 1);
  const chunks = new Counter({
    name: "gatepost_worker_chunks_total",
    help: "Chunks by what came of them: taken, then stored, late, postponed (DNS was silent) or failed.",
    labelNames: ["outcome"],
    registers,
    collect() {
      const figures = worker.figures();
      chunks.reset();
      for (const outcome of COUNTED) chunks.inc({ outcome }, figures[outcome]);
    },
  });
  for (const [part, help, read] of GAUGES) {
    const gauge: Gauge = new Gauge({
      name: `gatepost_worker_${part}`,
      help,
      registers,
      collect: () => gauge.set(read(worker.figures())),
    });
  }
}

const GAUGES: readonly [part: string, help: string, read: (figures: WorkerFigures) => number][] = [
  [
    "entries_per_second",
    "Entries checked in a second while there is work.",
    (f) => f.entriesPerSecond,
  ],
  ["chunks_in_use", "Chunks under way.", (f) => f.inUse],
  ["open_entries", "Entries of chunks under way that are not checked yet.", (f) => f.openEntries],
];

/** Of a worker that has not begun. */
export const IDLE_WORKER: WorkerFigures = {
  taken: 0,
  stored: 0,
  late: 0,
  postponed: 0,
  failed: 0,
  entriesPerSecond: 0,
  inUse: 0,
  openEntries: 0,
};
