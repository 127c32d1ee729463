/**
 * A client in a process of its own: `connections` that each ask, read the answer and ask again. Every request is for
 * a name that no cache has. It reads only what it needs of HTTP, so that it takes little of the cores it shares.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

export interface Load {
  readonly port: number;
  readonly connections: number;
  /** How many names are asked for. */
  readonly count: number;
  /** Different in every load: the names end in it. */
  readonly mark: string;
}

export interface LoadResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers other than 200, or without a mail server. */
  readonly wrong: number;
}

/** Runs one load to its end. */
export async function runLoad(load: Load): Promise<LoadResult> {
  const child = fork(fileURLToPath(import.meta.url), ["load"]);
  child.send(load);
  const [result] = (await once(child, "message")) as [LoadResult];
  child.disconnect();
  await once(child, "exit");
  return result;
}

const HEAD_END = "\r\n\r\n";

interface Tally {
  readonly times: number[];
  wrong: number;
}

/** Whether `text` holds the whole answer; its head says how long the body is. */
function isWhole(text: string): boolean {
  const headEnd = text.indexOf(HEAD_END);
  if (headEnd < 0) return false;
  const length = /content-length: (\d+)/i.exec(text.slice(0, headEnd))?.[1];
  return text.length >= headEnd + HEAD_END.length + Number(length ?? 0);
}

/** One connection; resolves when no name is left and its last answer is there. */
function asker(port: number, next: () => string | undefined, tally: Tally): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }).setEncoding("latin1");
    let askedMs = 0;
    let text = "";
    const ask = (): void => {
      const name = next();
      if (name === undefined) {
        socket.end();
        resolve();
        return;
      }
      text = "";
      askedMs = performance.now();
      socket.write(`GET /api/email/a@${name} HTTP/1.1\r\nhost: bench\r\n\r\n`);
    };
    socket.on("connect", ask);
    socket.on("error", reject);
    socket.on("data", (part: string) => {
      text += part;
      if (!isWhole(text)) return;
      tally.times.push(performance.now() - askedMs);
      if (!text.startsWith("HTTP/1.1 200") || !text.includes('"dns":true')) tally.wrong += 1;
      ask();
    });
  });
}

async function load({ port, connections, count, mark }: Load): Promise<LoadResult> {
  const tally: Tally = { times: [], wrong: 0 };
  const startMs = performance.now();
  let asked = 0;
  const next = (): string | undefined =>
    asked === count ? undefined : `d${String(asked++)}.${mark}.co`;
  await Promise.all(Array.from({ length: connections }, () => asker(port, next, tally)));
  const sorted = tally.times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return {
    perSecond: (sorted.length * 1_000) / (performance.now() - startMs),
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    wrong: tally.wrong,
  };
}

if (process.argv[2] === "load") {
  const [asked] = (await once(process, "message")) as [Load];
  process.send?.(await load(asked));
}
