import { dayOf } from "../../core/calendar.ts";
import type { Datasets } from "../../core/evidence/datasets.ts";
import { domainVerdict } from "../../core/evidence/domain-evidence.ts";
import { rulesOf, type SaidOf } from "../../core/evidence/rule.ts";
import type { MailHosts } from "../../core/mail/mail-hosts.ts";
import { parseDomain } from "../../core/name/domain.ts";
import type { AddressHash } from "../../base/secrets.ts";
import type { Clock } from "../../base/clock.ts";
import type { VerdictCountRow } from "../../store/schema.ts";
import { checkedDomains, type CheckedDomains } from "../domain-verdicts.ts";
import { VERDICT_DAYS } from "../verdict-recorder.ts";
import { isInForce, readListLines, type RuleService, type WrongLine } from "./rules.ts";

interface ChangedDomain {
  readonly domain: string;
  readonly becomes: "disposable" | "fine";
  readonly checks: number;
}

/** As `--json` prints it. */
export interface RuleBackTest {
  readonly days: number;
  readonly domains: number;
  /** Of the domains those whose mail hosts are known: rules about mail hosts are tested on them alone. */
  readonly domains_with_mail: number;
  readonly checks: number;
  readonly changed_domains: number;
  readonly changed_checks: number;
  /** Those with the most checks, at most 100. */
  readonly changed: readonly ChangedDomain[];
  /** Rules about addresses: nothing is counted by address. */
  readonly untestable: number;
  readonly untestable_lines: readonly number[];
}

interface RuleBackTestDeps extends CheckedDomains {
  readonly operator: Pick<RuleService, "entries">;
  readonly datasets: Datasets;
  readonly hash: AddressHash;
  readonly clock: Pick<Clock, "nowMs">;
}

const SHOWN_MAX = 100;

/** What the lines (as for an import; without a word they deny) would have changed in the counted days, or which are wrong. */
export async function backTestRules(
  text: string,
  deps: RuleBackTestDeps,
): Promise<{ readonly test: RuleBackTest } | { readonly wrong: readonly WrongLine[] }> {
  const { datasets, hash } = deps;
  const nowMs = deps.clock.nowMs();
  const { said, wrong } = readListLines(text, "deny", hash);
  if (wrong.length > 0) return { wrong };
  const proposed = [...said].filter(([, rule]) => isInForce(rule, nowMs));
  const active = await deps.operator.entries();
  const under = (rules: readonly SaidOf[]) => ({ ...datasets, operator: rulesOf(rules, hash) });
  const before = under(active);
  const after = under([...active, ...proposed.map(([, rule]) => rule)]);
  const sums = { domains: 0, domains_with_mail: 0, checks: 0 };
  const changed: ChangedDomain[] = [];
  for await (const { count, mail } of checkedDomains(deps, dayOf(nowMs) - VERDICT_DAYS + 1)) {
    sums.domains += 1;
    if (mail !== undefined) sums.domains_with_mail += 1;
    sums.checks += count.disposable + count.other;
    changed.push(...changeOf(count, mail, { before, after }));
  }
  const lines = proposed.flatMap(([line, { subject }]) =>
    subject.startsWith("address:") ? line : [],
  );
  const test = {
    days: VERDICT_DAYS,
    ...sums,
    changed_domains: changed.length,
    changed_checks: changed.reduce((sum, { checks }) => sum + checks, 0),
    changed: changed.sort((a, b) => b.checks - a.checks).slice(0, SHOWN_MAX),
    untestable: lines.length,
    untestable_lines: lines.slice(0, SHOWN_MAX),
  };
  return { test };
}

/** Uses the current lists and mail hosts, so that only the rules differ. One domain, or none if nothing changes. */
function changeOf(
  { domain, disposable, other }: Omit<VerdictCountRow, "day">,
  mail: MailHosts = { kind: "unknown" },
  { before, after }: { readonly before: Datasets; readonly after: Datasets },
): readonly ChangedDomain[] {
  const parsed = parseDomain(domain);
  if (!parsed.ok) return [];
  const isBad = (datasets: Datasets) => domainVerdict(parsed.value, mail, datasets).disposable;
  const isAllowed = ({ operator }: Datasets) => operator.domain(domain) === "allow";
  const becomesBad = isBad(after);
  const checks = becomesBad ? other : disposable;
  const isSame = becomesBad === isBad(before) && isAllowed(after) === isAllowed(before);
  if (isSame || checks === 0) return [];
  return [{ domain, becomes: becomesBad ? "disposable" : "fine", checks }];
}
