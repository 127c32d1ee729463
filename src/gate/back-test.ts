import { dayOf } from "../core/calendar.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import type { Lookup } from "../core/mail/lookup.ts";
import type { MailHosts } from "../core/mail/mail-hosts.ts";
import { factsOf, isDomainLevel } from "../core/policy/conditions.ts";
import { decide, type Decision, type CheckFacts, type Policy } from "../core/policy/policy.ts";
import { validate } from "../core/validate/validate.ts";
import type { Clock } from "../base/clock.ts";
import { checkedDomains, type CheckedDomains } from "../lists/domain-verdicts.ts";
import type { VerdictCountRow } from "../store/schema.ts";
import type { BackTestReport } from "./gate-shapes.ts";

type ChangedDecision = BackTestReport["changed"][number];

export interface BackTested {
  readonly live: Policy;
  readonly draft: Policy;
  readonly days: number;
}

/** The counts are of all accounts: for the operator alone. */
export type BackTestPolicy = (asked: BackTested) => Promise<BackTestReport>;

export interface PolicyBackTestDeps extends CheckedDomains {
  readonly datasets: () => Datasets;
  readonly implicitMx: boolean;
  readonly clock: Pick<Clock, "nowMs">;
}

const SHOWN_MAX = 100;

export function createBackTestPolicy(deps: PolicyBackTestDeps): BackTestPolicy {
  return async ({ live, draft, days }) => {
    const untestable = draft.rules.flatMap(({ facts }, rule) => {
      const names = facts.filter((fact) => !isDomainLevel(fact));
      return names.length === 0 ? [] : { rule, facts: [...new Set(names)] };
    });
    const tested = (policy: Policy): Policy => ({
      ...policy,
      rules: policy.rules.filter(({ facts }) => facts.every(isDomainLevel)),
    });
    const sums = new Sums();
    const policies = { live: tested(live), draft: tested(draft) };
    await eachFacts(deps, dayOf(deps.clock.nowMs()) - days + 1, (checked, checks) => {
      const facts = { checked, caller: new Map() };
      const before = decide(policies.live, facts).decision;
      const after = decide(policies.draft, facts).decision;
      sums.add(checked.domain, { live: before, draft: after }, checks);
    });
    return { days, ...sums.report(), untestable };
  };
}

async function eachFacts(
  deps: PolicyBackTestDeps,
  fromDay: number,
  take: (facts: CheckFacts, checks: number) => void,
): Promise<void> {
  for await (const { count, mail } of checkedDomains(deps, fromDay)) {
    for (const [dns, checks] of byAnswer(count)) {
      take(await factsAs(dns, count.domain, { mail, deps }), checks);
    }
  }
}

function byAnswer({
  disposable,
  other,
  no_mail: noMail,
  no_answer: noAnswer,
}: Omit<VerdictCountRow, "day">): readonly (readonly [CheckFacts["dns"], number])[] {
  const yes = disposable + other - noMail - noAnswer;
  const all = [
    ["yes", yes],
    ["no", noMail],
    ["unknown", noAnswer],
  ] as const;
  return all.filter(([, checks]) => checks > 0);
}

/** As a check of the bare domain would find them now, had DNS said this. */
async function factsAs(
  dns: CheckFacts["dns"],
  domain: string,
  { mail, deps }: { readonly mail: MailHosts | undefined; readonly deps: PolicyBackTestDeps },
): Promise<CheckFacts> {
  const datasets = deps.datasets();
  const lookup = toldLookup(dns, mail);
  const asked = { features: [], spamTrap: false };
  const { implicitMx } = deps;
  const question = { text: domain, mode: "domain", asked, nowMs: 0, implicitMx } as const;
  const validation = await validate(question, { datasets, lookup, within: () => lookup });
  const facts = factsOf(validation, datasets);
  if (facts.dns === dns) return facts;
  // It has mail hosts, but which was never noted.
  return { ...facts, dns, signals: facts.signals.filter((one) => one !== "dns_indeterminate") };
}

const UNKNOWN = { kind: "unknown", why: "timeout" } as const;
const ABSENT = { kind: "absent", why: "noName" } as const;

function toldLookup(dns: CheckFacts["dns"], mail: MailHosts | undefined): Lookup {
  const known = dns === "yes" && mail?.kind === "hosts" ? mail : undefined;
  const { hosts = [], addresses = [] } = known ?? {};
  return {
    mx() {
      if (dns === "no") return ABSENT;
      if (hosts.length === 0) return UNKNOWN;
      return { kind: "found", records: hosts.map((host, preference) => ({ preference, host })) };
    },
    addresses: () => (addresses.length === 0 ? UNKNOWN : { kind: "found", records: addresses }),
    txt: () => UNKNOWN,
    registration: () => UNKNOWN,
  };
}

const none = (): Record<Decision, number> => ({ accept: 0, challenge: 0, review: 0, reject: 0 });

class Sums {
  readonly #live = none();
  readonly #draft = none();
  readonly #pairs = new Map<string, { live: Decision; shadow: Decision; count: number }>();
  #changed: ChangedDecision[] = [];
  readonly #domains = { all: 0, changed: 0, last: "", lastChanged: "" };

  add(
    domain: string,
    { live, draft }: { readonly live: Decision; readonly draft: Decision },
    checks: number,
  ): void {
    if (domain !== this.#domains.last) this.#domains.all += 1;
    this.#domains.last = domain;
    this.#live[live] += checks;
    this.#draft[draft] += checks;
    const key = `${live} ${draft}`;
    const pair = this.#pairs.get(key) ?? { live, shadow: draft, count: 0 };
    pair.count += checks;
    this.#pairs.set(key, pair);
    if (live === draft) return;
    if (domain !== this.#domains.lastChanged) this.#domains.changed += 1;
    this.#domains.lastChanged = domain;
    this.#changed.push({ domain, live, draft, checks });
    if (this.#changed.length > 2 * SHOWN_MAX) this.#changed = mostChecked(this.#changed);
  }

  report(): Omit<BackTestReport, "days" | "untestable"> {
    const pairs = [...this.#pairs.values()].toSorted((a, b) => b.count - a.count);
    const sum = (some: readonly { readonly count: number }[]): number =>
      some.reduce((all, { count }) => all + count, 0);
    return {
      domains: this.#domains.all,
      checks: sum(pairs),
      live: this.#live,
      draft: this.#draft,
      changed_checks: sum(pairs.filter(({ live, shadow }) => live !== shadow)),
      changed_domains: this.#domains.changed,
      pairs,
      changed: mostChecked(this.#changed),
    };
  }
}

const mostChecked = (changed: readonly ChangedDecision[]): ChangedDecision[] =>
  changed.toSorted((a, b) => b.checks - a.checks).slice(0, SHOWN_MAX);
