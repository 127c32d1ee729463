import type { DnsQuestions } from "../../dns/lookup.ts";
import type { Trust } from "../../dns/trust/trust.ts";
import type { SharedCap } from "../../dns/flow/shared-cap.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import type { Lookup } from "../../core/mail/lookup.ts";
import type { DnsFigures } from "../metrics/dns-metrics.ts";
import { verdictTally, type VerdictTally } from "../metrics/verdict-metrics.ts";
import { coreEntryCheck } from "../../bulk/worker/core-entry-check.ts";
import type { EntryCheck } from "../../bulk/worker/process-chunk.ts";
import type { Observed } from "../../lists/verdict-recorder.ts";
import { openDns } from "./dns.ts";
import { type Machine, systemMachine } from "../process/machine.ts";
import type { Config } from "../settings/config.ts";

/** Checks entries of batches. */
export interface BulkChecker {
  readonly check: EntryCheck;
  /** Undefined while the resolver takes questions, else a promise of that. */
  readonly room: () => Promise<void> | undefined;
  /** Whether DNS answers, in four tries, and its answers can be trusted. */
  readonly dnsAnswers: () => Promise<boolean>;
  readonly dnsFigures: () => DnsFigures;
  readonly verdicts: VerdictTally["counts"];
  /** Names that DNS takes at once. */
  readonly window: () => number;
  /** Leaves no socket and no timer. */
  readonly close: () => void;
}

/** No client waits for one entry, so all its tries may run, also those of a second host. */
const ENTRY_BUDGET_MS = 10_000;

/** The second pass: one try and its ticks. What the server has learnt by now it says at once. */
const AGAIN_BUDGET_MS = 500;

/** Entries started in one turn; with more, answers waiting in the sockets look slow, which narrows the window. */
const BEGUN_AT_ONCE = 20;

/** Names between two readings of the window. */
const WINDOW_READ_EVERY = 64;

export interface BulkCheckerOptions {
  /** Called with every fresh verdict. */
  readonly observe?: (validation: Observed) => void;
  /** Bounds the DNS tries under way; the process's unless given. */
  readonly cap?: SharedCap | undefined;
  readonly machine?: Machine;
  /** The process's, if it watches the resolver. */
  readonly trust?: Trust | undefined;
}

export function openBulkChecker(
  config: Pick<Config, "dnsServers" | "implicitMx">,
  datasets: () => Datasets,
  { observe = () => undefined, cap, machine = systemMachine, trust }: BulkCheckerOptions = {},
): BulkChecker {
  const dns = openDns(config, "bulk", { cap, machine, trust });
  // The second pass has sockets and a window of its own: names that are dead would narrow that of the first.
  const second = openDns(config, "again", { cap, machine, trust });
  const probe = openDns(config, "probe", { cap, machine });
  const verdicts = verdictTally();
  const check = coreEntryCheck({
    datasets,
    lookup: withoutRegistry({ mx: dns.mx, addresses: dns.addresses, txt: dns.txt }),
    again: withoutRegistry(second.again),
    clock: machine.clock,
    implicitMx: config.implicitMx,
    budgetMs: ENTRY_BUDGET_MS,
    againBudgetMs: AGAIN_BUDGET_MS,
    observe(validation) {
      verdicts.count(validation.result);
      observe(validation);
    },
  });
  let begun = 0;
  let asked = 0;
  let window = 0;
  return {
    check,
    /** Waits for the resolver, and at intervals for a turn of the event loop. */
    room() {
      begun += 1;
      if (begun % BEGUN_AT_ONCE > 0) return dns.room();
      return new Promise((resolve) => setImmediate(resolve)).then(() => dns.room());
    },
    dnsAnswers: () => trust?.answers() ?? probe.probe(),
    dnsFigures: () => ({
      clients: { bulk: dns.stats(), again: second.stats() },
      trust: trust?.stats(),
    }),
    verdicts: verdicts.counts,
    window() {
      // Asked for every name, and it changes every few seconds.
      if (asked % WINDOW_READ_EVERY === 0) window = dns.stats().window;
      asked += 1;
      return window;
    },
    close() {
      dns.close();
      second.close();
      probe.close();
    },
  };
}

/** Bulk asks no registry: of the premium checks only the spam trap runs, which needs no question. */
const withoutRegistry = (questions: DnsQuestions): Lookup => ({
  ...questions,
  registration: () => ({ kind: "unknown", why: "deadline" }),
});
