import type { DnsQuestions } from "../adapters/dns/lookup.ts";
import { systemClock as clock } from "../adapters/system/clock.ts";
import type { Datasets } from "../core/datasets.ts";
import type { Lookup } from "../core/lookup.ts";
import { coreJudge } from "../service/bulk/core-judge.ts";
import type { Judge } from "../service/bulk/judge.ts";
import { openDns } from "./checker.ts";
import type { Config } from "./config.ts";

/** Judges entries by the ten thousands. */
export interface BulkJudge {
  readonly judge: Judge;
  /** Undefined while the resolver takes questions, else a promise of that. */
  readonly room: () => Promise<void> | undefined;
  /** Whether DNS gives any answer at all just now. */
  readonly dnsAnswers: () => Promise<boolean>;
  /** Leaves no socket and no timer. */
  readonly close: () => void;
}

/** Nobody waits for one entry, so its tries may run their course, and a second host's too. */
const ENTRY_BUDGET_MS = 10_000;

/** The second pass: a try, one more, and its answer. */
const AGAIN_BUDGET_MS = 2_000;

/** Entries begun in one go; more, and answers that lie in the sockets look slow, which narrows the window. */
const BEGUN_AT_ONCE = 20;

export function openBulkJudge(
  config: Pick<Config, "dnsServers" | "implicitMx">,
  datasets: () => Datasets,
): BulkJudge {
  const dns = openDns(config, "bulk");
  // The second pass has sockets and a window of its own: names that are dead would narrow that of the first.
  const second = openDns(config, "interactive");
  const judge = coreJudge({
    datasets,
    lookup: withoutRegistry({ mx: dns.mx, addresses: dns.addresses, txt: dns.txt }),
    again: withoutRegistry(second.again),
    clock,
    implicitMx: config.implicitMx,
    budgetMs: ENTRY_BUDGET_MS,
    againBudgetMs: AGAIN_BUDGET_MS,
  });
  let begun = 0;
  return {
    judge,
    /** Waits for the resolver, and now and then for a turn of the event loop. */
    room() {
      begun += 1;
      if (begun % BEGUN_AT_ONCE > 0) return dns.room();
      return new Promise((resolve) => setImmediate(resolve)).then(() => dns.room());
    },
    dnsAnswers: () => second.probe(),
    close() {
      dns.close();
      second.close();
    },
  };
}

/** Bulk asks no registry: no premium check runs but the spam trap, which asks nobody. */
const withoutRegistry = (questions: DnsQuestions): Lookup => ({
  ...questions,
  registration: () => ({ kind: "unknown", why: "deadline" }),
});
