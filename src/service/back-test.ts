import { dayOf } from "../core/calendar.ts";
import type { Datasets, OperatorLists } from "../core/datasets.ts";
import { type Domain, parseDomain } from "../core/domain.ts";
import { domainVerdict } from "../core/domain-verdict.ts";
import { operatorListsOf } from "../core/operator-lists.ts";
import type { AddressHash } from "../ports/address-hash.ts";
import type { Clock } from "../ports/clock.ts";
import type { OperatorEntries } from "../ports/operator-entries.ts";
import type { VerdictCounts } from "../ports/verdict-counts.ts";
import { readListLines, type WrongLine } from "./list-lines.ts";
import { isInForce } from "./operator-lists.ts";
import { VERDICT_DAYS } from "./verdict-recorder.ts";

/** One domain whose checks would have ended otherwise. */
export interface ChangedDomain {
  readonly domain: string;
  readonly becomes: "disposable" | "fine";
  /** Checks of it that would have ended otherwise. */
  readonly checks: number;
}

export interface BackTest {
  readonly days: number;
  /** Of those days, as far as they were counted. */
  readonly domains: number;
  readonly checks: number;
  readonly changedDomains: number;
  readonly changedChecks: number;
  /** Those with the most checks, at most 100. */
  readonly changed: readonly ChangedDomain[];
  /** Entries about mail hosts and addresses: counts know neither. */
  readonly untestable: number;
}

export type BackTestAnswer =
  | ({ readonly kind: "tested" } & BackTest)
  | { readonly kind: "wrong_lines"; readonly lines: readonly WrongLine[] };

/** What the lines (as for an import; without a word they deny) would have changed in the counted days. */
export type RunBackTest = (text: string) => Promise<BackTestAnswer>;

export interface BackTestDeps {
  readonly entries: Pick<OperatorEntries, "all">;
  readonly counts: Pick<VerdictCounts, "page">;
  readonly datasets: () => Datasets;
  readonly hash: AddressHash;
  readonly clock: Pick<Clock, "nowMs">;
}

const PAGE = 2_000;
const SHOWN_MAX = 100;

export function createBackTest(deps: BackTestDeps): RunBackTest {
  return async (text) => {
    const nowMs = deps.clock.nowMs();
    const proposed = readListLines(text, "deny", deps.hash);
    if (proposed.wrong.length > 0) return { kind: "wrong_lines", lines: proposed.wrong };
    const held = (await deps.entries.all()).filter((entry) => isInForce(entry, nowMs));
    const datasets = deps.datasets();
    const lists: Lists = {
      before: { ...datasets, operator: operatorListsOf(held, deps.hash) },
      after: { ...datasets, operator: operatorListsOf([...held, ...proposed.said], deps.hash) },
    };
    const sums = await compare(lists, deps.counts, dayOf(nowMs) - VERDICT_DAYS + 1);
    const untestable = proposed.said.filter(({ subject }) => /^(?:mx|address):/.test(subject));
    return { kind: "tested", days: VERDICT_DAYS, ...sums, untestable: untestable.length };
  };
}

interface Lists {
  readonly before: Datasets;
  readonly after: Datasets;
}

async function compare(
  lists: Lists,
  counts: Pick<VerdictCounts, "page">,
  fromDay: number,
): Promise<Omit<BackTest, "days" | "untestable">> {
  let [domains, checks, changedDomains, changedChecks, after] = [0, 0, 0, 0, ""];
  let changed: ChangedDomain[] = [];
  for (;;) {
    const page = await counts.page(fromDay, after, PAGE);
    for (const count of page) {
      domains += 1;
      checks += count.disposable + count.other;
      const change = changeOf(count, lists);
      if (change === undefined) continue;
      changedDomains += 1;
      changedChecks += change.checks;
      changed.push(change);
    }
    changed = changed.sort((a, b) => b.checks - a.checks).slice(0, SHOWN_MAX);
    after = page.at(-1)?.domain ?? "";
    if (page.length < PAGE) return { domains, checks, changedDomains, changedChecks, changed };
  }
}

/** Mail hosts are not known any more: only what changes without them is told, and the operator's own word. */
function changeOf(
  count: { readonly domain: string; readonly disposable: number; readonly other: number },
  { before, after }: Lists,
): ChangedDomain | undefined {
  const parsed = parseDomain(count.domain);
  if (!parsed.ok) return undefined;
  const becomes = outcome(parsed.value, after);
  const isSame =
    becomes === outcome(parsed.value, before) &&
    allows(after.operator, count.domain) === allows(before.operator, count.domain);
  const checks = becomes === "disposable" ? count.other : count.disposable;
  return isSame || checks === 0 ? undefined : { domain: count.domain, becomes, checks };
}

const outcome = (domain: Domain, datasets: Datasets): ChangedDomain["becomes"] =>
  domainVerdict(domain, { kind: "unknown" }, datasets).disposable ? "disposable" : "fine";

const allows = (operator: OperatorLists, name: string): boolean =>
  operator.domain(name) === "allow";
