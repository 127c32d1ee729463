// Makes Node itself repeatable. What leaves the JavaScript thread (zlib's threads) is done on it, turns of the event
// loop are counted, and randomness comes from the seed. Import this before anything of `src`.
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import zlib from "node:zlib";
import { Chance } from "./chance.ts";

let chance = new Chance(1);
let pending = 0;

/** From now on Node's own randomness follows this seed. */
export function seedNode(seed: number): void {
  chance = new Chance(seed);
}

const realImmediate = globalThis.setImmediate;

function counted(task: (...args: unknown[]) => void, ...args: unknown[]): NodeJS.Immediate {
  pending += 1;
  return realImmediate(() => {
    pending -= 1;
    task(...args);
  });
}

const later = Object.assign(counted, {
  __promisify__: (value?: unknown) => new Promise((resolve) => counted(() => resolve(value))),
});
Object.defineProperty(later, Symbol.for("nodejs.util.promisify.custom"), {
  value: later.__promisify__,
});

type Callback = (fault: Error | null, done?: Buffer) => void;

const inline =
  (work: (input: zlib.InputType, options?: object) => Buffer) =>
  (input: zlib.InputType, second: object | Callback, third?: Callback): void => {
    const callback = third ?? (second as Callback);
    const options = third === undefined ? {} : (second as object);
    let done: Buffer;
    try {
      done = work(input, options);
    } catch (fault) {
      callback(fault as Error);
      return;
    }
    callback(null, done);
  };

const patches: readonly (readonly [object, Readonly<Record<string, unknown>>])[] = [
  [globalThis, { setImmediate: later }],
  [timers, { setImmediate: later }],
  [timersPromises, { setImmediate: later.__promisify__ }],
  [zlib, { deflateRaw: inline(zlib.deflateRawSync), inflateRaw: inline(zlib.inflateRawSync) }],
  [Math, { random: () => chance.next() }],
  [
    crypto,
    {
      randomBytes: (count: number) => Buffer.from(chance.bytes(count)),
      randomUUID: () => Buffer.from(chance.bytes(16)).toString("hex"),
    },
  ],
];
for (const [target, made] of patches) Object.assign(target, made);
syncBuiltinESMExports();

const turn = (): Promise<void> => new Promise((resolve) => void realImmediate(resolve));

/** Resolves when nothing is left to do at this moment: no promise, no tick, no turn of the event loop. */
export async function quiet(): Promise<void> {
  do await turn();
  while (pending > 0 || process.getActiveResourcesInfo().some(isWork));
}

/** Files that a starting process reads, say; sockets and timers of this program do not count. */
const isWork = (name: string): boolean => name.startsWith("FSReq") || name.includes("JOB");
