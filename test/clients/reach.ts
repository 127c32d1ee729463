import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** What a program of a client library printed about sign-ups while the service was killed, slow and lying. */
export interface Reach {
  readonly count: number;
  readonly answered: number;
  /** Honest addresses that were not let in. */
  readonly blocked_wrongly: number;
  /** Listed ones that were. */
  readonly let_in_wrongly: number;
  /** Answered more than 50 ms after the deadline. */
  readonly late: number;
  readonly worst_ms: number;
  readonly sources: Readonly<Record<string, number>>;
}

/** Those that must let an honest person in. */
export const passingFaults = (faults: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(faults).filter(([name]) => !name.startsWith("refuses_")));

const CLIENTS = fileURLToPath(new URL("../../../clients", import.meta.url));

/** Runs programs beside each other, and calls `onHalf` when all of them are half way. Gives what they printed last. */
export async function runReach(
  programs: readonly (readonly [command: string, ...words: string[]])[],
  onHalf: () => Promise<void>,
): Promise<readonly Reach[]> {
  let before = programs.length;
  let halfWay: Promise<void> | undefined;
  const outputs = programs.map(async ([command, ...words]) => {
    const child = spawn(command, words, { cwd: CLIENTS, stdio: ["ignore", "pipe", "pipe"] });
    const ended = once(child, "close");
    let isHalfWay = false;
    const texts = await Promise.all([
      read(child.stdout, (text) => {
        if (!text.includes("half") || isHalfWay) return;
        isHalfWay = true;
        before -= 1;
        if (before === 0) halfWay = onHalf();
      }),
      read(child.stderr, () => undefined),
    ]);
    await ended;
    await halfWay;
    const last = texts[0].trim().split("\n").at(-1) ?? "";
    if (child.exitCode !== 0) throw new Error(`${command} ${words.join(" ")}: ${texts[1]}`);
    return JSON.parse(last) as Reach;
  });
  return Promise.all(outputs);
}

async function read(
  stream: NonNullable<ChildProcess["stdout"]>,
  onText: (text: string) => void,
): Promise<string> {
  let all = "";
  for await (const piece of stream.setEncoding("utf8")) {
    all += String(piece);
    onText(all);
  }
  return all;
}
