// All attackers, in a process of their own at a low priority, as they would be on other machines.
import { getPriority, setPriority } from "node:os";
import { Attacker, type AttackerTerms } from "./attacker.ts";
import { ATTACKS } from "./attacks.ts";

/** What the process is told. */
export type AttackOrder =
  | {
      readonly kind: "start";
      readonly attack: string;
      readonly attackers: number;
      /** 0 to 255: each has addresses of its own, whose rates are unspent. */
      readonly net: number;
      readonly port: number;
      readonly keys: AttackerTerms["keys"];
    }
  | { readonly kind: "stop" };

/** Answers by status, in the order of their number. */
export type AttackReport = readonly (readonly [status: number, count: number])[];

const LOWER_PRIORITY = 10;
setPriority(Math.min(19, getPriority() + LOWER_PRIORITY));

let attackers: readonly Attacker[] = [];

function start({
  attack,
  attackers: count,
  net,
  port,
  keys,
}: Extract<AttackOrder, { kind: "start" }>): void {
  const run = ATTACKS.find(({ name }) => name === attack)?.run;
  if (run === undefined) throw new Error(`no such attack: ${attack}`);
  const line = { freeAtMs: 0 };
  const addressOf = (index: number): string => `127.${String(net)}.1.${String(index + 1)}`;
  attackers = Array.from(
    { length: count },
    (_, index) => new Attacker(index, { port, keys, addressOf, line }),
  );
  for (const attacker of attackers) void run(attacker, count);
}

function stop(): AttackReport {
  const all = new Map<number, number>();
  for (const attacker of attackers) {
    attacker.stop();
    for (const [status, count] of attacker.statuses)
      all.set(status, (all.get(status) ?? 0) + count);
  }
  return [...all].toSorted(([, a], [, b]) => b - a);
}

process.on("message", (order: AttackOrder) => {
  if (order.kind === "start") start(order);
  process.send?.(order.kind === "start" ? [] : stop());
});
process.on("disconnect", () => process.exit(0));
