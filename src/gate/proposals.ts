import { type Kysely, sql } from "kysely";
import type { Clock } from "../base/clock.ts";
import { dayOf, isoDate } from "../core/calendar.ts";
import type { Datasets } from "../core/evidence/datasets.ts";
import { familyStanding, standingOf } from "../core/evidence/domain-evidence.ts";
import { parseDomain } from "../core/name/domain.ts";
import type { Database } from "../store/schema.ts";
import type { Proposal } from "./gate-shapes.ts";
import { reportedDomainOf } from "./traffic.ts";

export const FEEDBACK_DAYS = 90;

/** Reports of abuse about one unlisted domain after which it is proposed to deny it. */
const ABUSE_PROPOSES = 3;
const PROPOSALS_MAX = 100;

/** Of the operator's list one account fills so many places while others wait; what several report is nobody's. */
const PROPOSALS_OF_ACCOUNT = 20;
const PROPOSAL_PAGE_ROWS = 1_000;
const PROPOSAL_PAGES = 50;

export interface ProposalDeps {
  readonly db: Kysely<Database>;
  readonly datasets: () => Datasets;
  readonly clock: Pick<Clock, "nowMs">;
}

/** Domains that feedback proposes to deny or to allow: an account's own, or without one the operator's. */
export class Proposals {
  readonly #deps: ProposalDeps;

  constructor(deps: ProposalDeps) {
    this.#deps = deps;
  }

  async all(accountId?: string): Promise<readonly Proposal[]> {
    const column = accountId === undefined ? "operator_proposal" : "account_proposal";
    const open: (Proposal & { readonly by: string })[] = [];
    for (let page = 0; page < PROPOSAL_PAGES; page += 1) {
      const rows = await this.#proposed(column, accountId, page);
      open.push(...rows.filter(({ domain, proposes }) => this.#isOpen(domain, proposes)));
      if (rows.length < PROPOSAL_PAGE_ROWS) break;
    }
    return inShares(open, accountId === undefined ? PROPOSALS_OF_ACCOUNT : PROPOSALS_MAX);
  }

  /** One page of what is proposed, listed domains too; newest first. */
  async #proposed(
    column: "operator_proposal" | "account_proposal",
    accountId: string | undefined,
    page: number,
  ): Promise<readonly (Proposal & { readonly by: string })[]> {
    const rows = await this.#deps.db
      .selectFrom("feedback")
      .select(({ fn }) => [
        "domain",
        column,
        fn.countAll().as("reports"),
        fn.count("mailbox").distinct().as("mailboxes"),
        fn.count("account_id").distinct().as("accounts"),
        fn.max("day").as("last_day"),
        fn.min("account_id").as("by"),
      ])
      .where(column, "<>", "")
      .where("day", ">", dayOf(this.#deps.clock.nowMs()) - FEEDBACK_DAYS)
      .$if(accountId !== undefined, (query) => query.where("account_id", "=", accountId ?? ""))
      .groupBy(["domain", column])
      .having(sql<boolean>`${sql.ref(column)} = 'allow' or count(*) >= ${ABUSE_PROPOSES}`)
      .orderBy("last_day", "desc")
      .orderBy("domain")
      .limit(PROPOSAL_PAGE_ROWS)
      .offset(page * PROPOSAL_PAGE_ROWS)
      .execute();
    return rows.flatMap(({ domain, [column]: proposes, ...row }) => {
      if (proposes === undefined || proposes === "") return [];
      return {
        domain,
        proposes,
        reports: Number(row.reports),
        mailboxes: Number(row.mailboxes),
        accounts: Number(row.accounts),
        last_day: isoDate(Number(row.last_day)),
        by: Number(row.accounts) === 1 ? row.by : "",
      };
    });
  }

  async answered(domain: string, accountId?: string): Promise<void> {
    const update = this.#deps.db.updateTable("feedback").where("domain", "=", domain);
    if (accountId === undefined) await update.set({ operator_proposal: "" }).execute();
    else {
      await update.set({ account_proposal: "" }).where("account_id", "=", accountId).execute();
    }
  }

  /** A domain that got listed, allowed or denied meanwhile needs no answer. */
  #isOpen(name: string, proposes: "deny" | "allow"): boolean {
    const datasets = this.#deps.datasets();
    const word = datasets.operator.domain(name);
    if (proposes === "allow") return word !== "allow";
    const parsed = parseDomain(name);
    if (!parsed.ok || word !== undefined) return false;
    const isListed =
      standingOf(name, datasets) !== undefined || familyStanding(name, datasets) !== undefined;
    return !isListed && reportedDomainOf(parsed.value, datasets) !== undefined;
  }
}

/** The first of each account up to its share, then what is over as far as there is room. */
function inShares(
  open: readonly (Proposal & { readonly by: string })[],
  share: number,
): readonly Proposal[] {
  const counts = new Map<string, number>();
  const isOver = open.map(({ by }) => {
    const count = (counts.get(by) ?? 0) + 1;
    counts.set(by, count);
    return by !== "" && count > share;
  });
  const ranked = [false, true].flatMap((over) => open.filter((_, at) => isOver[at] === over));
  const shown = new Set(ranked.slice(0, PROPOSALS_MAX));
  return open.filter((one) => shown.has(one)).map(({ by: _by, ...proposal }) => proposal);
}

/** What a rule of a policy's document may look like; it was checked when it was saved. */
interface RuleDocument {
  readonly when?: { readonly domain?: unknown };
  readonly then?: unknown;
  readonly reason?: unknown;
}

/** The policy's document with a rule that allows or denies a domain and the names below it, before all others. */
export function withDomain(document: unknown, domain: string, word: "allow" | "deny"): object {
  const { rules = [], ...rest } = document as { readonly rules?: readonly RuleDocument[] };
  const names = [domain, `*.${domain}`];
  const [then, reason] = word === "allow" ? ["accept", "allowed"] : ["reject", "denied"];
  const others = rules.flatMap((rule): readonly RuleDocument[] => {
    if (!isOwnRule(rule)) return [rule];
    const left = rule.when.domain.filter((name) => !names.includes(name));
    return left.length === 0 ? [] : [{ ...rule, when: { domain: left } }];
  });
  const at = others.findIndex(
    (rule) => isOwnRule(rule) && rule.then === then && rule.when.domain.length + 2 <= ITEMS_MAX,
  );
  const known = at < 0 ? [] : ((others[at]?.when?.domain ?? []) as readonly string[]);
  const rule = { when: { domain: [...known, ...names] }, then, reason };
  return { ...rest, rules: [rule, ...others.filter((_, index) => index !== at)] };
}

const ITEMS_MAX = 200;

function isOwnRule(
  rule: RuleDocument,
): rule is RuleDocument & { readonly when: { readonly domain: readonly string[] } } {
  const { when = {}, then, reason } = rule;
  const words = `${String(then)} ${String(reason)}`;
  const isDomains = Object.keys(when).join() === "domain" && Array.isArray(when.domain);
  return isDomains && (words === "accept allowed" || words === "reject denied");
}
