import { dayOf } from "../../core/calendar.ts";
import type { Datasets, Rules } from "../../core/evidence/datasets.ts";
import { type Domain, parseDomain } from "../../core/name/domain.ts";
import { domainVerdict } from "../../core/evidence/domain-evidence.ts";
import type { MailHosts } from "../../core/mail/mail-hosts.ts";
import { rulesOf } from "../../core/evidence/rule.ts";
import type { AddressHash } from "../../base/address-hash.ts";
import type { Clock } from "../../base/clock.ts";
import { type DomainMails, pagesOf, type VerdictCounts } from "../domain-verdicts.ts";
import type { RuleStore } from "./rule.ts";
import { isInForce, readListLines, type WrongLine } from "./rules.ts";
import { VERDICT_DAYS } from "../verdict-recorder.ts";

export interface ChangedDomain {
  readonly domain: string;
  readonly becomes: "disposable" | "fine";
  readonly checks: number;
}

export interface BackTest {
  readonly days: number;
  readonly domains: number;
  /** Of the domains those whose mail hosts are known: entries about mail hosts are tested on them alone. */
  readonly domainsWithMail: number;
  readonly checks: number;
  readonly changedDomains: number;
  readonly changedChecks: number;
  /** Those with the most checks, at most 100. */
  readonly changed: readonly ChangedDomain[];
  /** Entries about addresses: nothing is counted by address. */
  readonly untestable: number;
  readonly untestableLines: readonly number[];
}

export type BackTestAnswer =
  | ({ readonly kind: "tested" } & BackTest)
  | { readonly kind: "wrong_lines"; readonly lines: readonly WrongLine[] };

/** What the lines (as for an import; without a word they deny) would have changed in the counted days. */
export type RunBackTest = (text: string) => Promise<BackTestAnswer>;

export interface RuleBackTestDeps {
  readonly entries: Pick<RuleStore, "all">;
  readonly counts: Pick<VerdictCounts, "page">;
  readonly mails: Pick<DomainMails, "page">;
  readonly datasets: () => Datasets;
  readonly hash: AddressHash;
  readonly clock: Pick<Clock, "nowMs">;
}

/** Domains between two turns of the event loop: 4 ms. */
const PAGE = 200;

const SHOWN_MAX = 100;

export function createBackTest(deps: RuleBackTestDeps): RunBackTest {
  return async (text) => {
    const nowMs = deps.clock.nowMs();
    const proposed = readListLines(text, "deny", deps.hash);
    if (proposed.wrong.length > 0) return { kind: "wrong_lines", lines: proposed.wrong };
    const held = (await deps.entries.all()).filter((entry) => isInForce(entry, nowMs));
    const said = proposed.said.filter((line) => isInForce(line, nowMs));
    const datasets = deps.datasets();
    const known = {
      before: { ...datasets, operator: rulesOf(held, deps.hash) },
      after: { ...datasets, operator: rulesOf([...held, ...said], deps.hash) },
      mail: await knownMail(deps.mails),
    };
    const sums = await compare(known, dayOf(nowMs) - VERDICT_DAYS + 1, deps.counts);
    const lines = said.flatMap(({ subject, line }) => (subject.startsWith("address:") ? line : []));
    const untestable = { untestable: lines.length, untestableLines: lines.slice(0, SHOWN_MAX) };
    return { kind: "tested", days: VERDICT_DAYS, ...sums, ...untestable };
  };
}

/** Where mail went, as far as it was noted: some ten megabytes at the most. */
export async function knownMail(
  mails: Pick<DomainMails, "page">,
): Promise<ReadonlyMap<string, MailHosts>> {
  const known = new Map<string, MailHosts>();
  for await (const page of pagesOf((after, limit) => mails.page(after, limit), PAGE)) {
    for (const { domain, hosts, addresses } of page) {
      known.set(domain, { kind: "hosts", implicit: false, hosts, addresses });
    }
  }
  return known;
}

interface ComparedLists {
  readonly before: Datasets;
  readonly after: Datasets;
  readonly mail: ReadonlyMap<string, MailHosts>;
}

async function compare(
  known: ComparedLists,
  fromDay: number,
  counts: Pick<VerdictCounts, "page">,
): Promise<Omit<BackTest, "days" | "untestable" | "untestableLines">> {
  let [domains, domainsWithMail, checks, changedChecks] = [0, 0, 0, 0];
  const changed: ChangedDomain[] = [];
  const page = (after: string, limit: number) => counts.page(fromDay, after, limit);
  for await (const some of pagesOf(page, PAGE)) {
    for (const count of some) {
      domains += 1;
      if (known.mail.has(count.domain)) domainsWithMail += 1;
      checks += count.disposable + count.other;
      const change = changeOf(count, known);
      if (change === undefined) continue;
      changedChecks += change.checks;
      changed.push(change);
    }
  }
  const changedDomains = changed.length;
  const shown = changed.sort((a, b) => b.checks - a.checks).slice(0, SHOWN_MAX);
  return { domains, domainsWithMail, checks, changedDomains, changedChecks, changed: shown };
}

/** Uses the current lists and mail hosts, so that only the rules differ. */
function changeOf(
  count: { readonly domain: string; readonly disposable: number; readonly other: number },
  { before, after, mail: known }: ComparedLists,
): ChangedDomain | undefined {
  const parsed = parseDomain(count.domain);
  if (!parsed.ok) return undefined;
  const mail = known.get(count.domain) ?? UNKNOWN;
  const becomes = outcome(parsed.value, mail, after);
  const isSame =
    becomes === outcome(parsed.value, mail, before) &&
    allows(after.operator, count.domain) === allows(before.operator, count.domain);
  const checks = becomes === "disposable" ? count.other : count.disposable;
  return isSame || checks === 0 ? undefined : { domain: count.domain, becomes, checks };
}

const UNKNOWN: MailHosts = { kind: "unknown" };

const outcome = (domain: Domain, mail: MailHosts, datasets: Datasets): ChangedDomain["becomes"] =>
  domainVerdict(domain, mail, datasets).disposable ? "disposable" : "fine";

const allows = (operator: Rules, name: string): boolean => operator.domain(name) === "allow";
