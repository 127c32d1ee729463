import type { VNode } from "preact";
import type { Plan } from "../../http/account/shapes.ts";
import { capital, limitText } from "../lib/format.ts";
import { session } from "../lib/session.ts";
import { LoadedSheet, PageHead } from "../parts/page.tsx";
import { Table } from "../parts/rows.tsx";
import { tierName } from "../words/names.ts";

/** For visitors; accounts have the same table on the page "Usage". */
export const Page = (): VNode => (
  <>
    <PageHead
      title="Plans"
      lead="Every plan finds bad addresses, missing mail servers and disposable domains."
    />
    <Plans />
  </>
);

const ROWS: readonly (readonly [name: string, value: (plan: Plan) => string])[] = [
  ["Checks a day", ({ daily }) => limitText(daily)],
  ["Checks a month", ({ monthly }) => limitText(monthly)],
  ["Requests a minute", ({ rate_per_minute: rate }) => limitText(rate)],
  ["Entries in one list", ({ bulk_limit: most }) => limitText(most)],
  ["Premium checks", ({ premium }) => (premium ? "included" : "no")],
];

export function Plans(): VNode {
  const mine = session.value.account?.tier;
  const head = (name: string): string => tierName(name) + (name === mine ? " (yours)" : "");
  return (
    <LoadedSheet {...{ title: "What each plan has", path: "plans", stamp: 0, lines: 6 }}>
      {({ plans }: { readonly plans: readonly Plan[] }) => (
        <>
          <Table
            label="What each plan has"
            head={["Plan", ...plans.map(({ name }) => head(name))]}
            rows={ROWS.map(([name, value]) => [name, ...plans.map((plan) => capital(value(plan)))])}
          />
          <p class="prose">
            A check is one address or domain; in a list every different entry counts once. Premium
            checks look at who may send in a domain's name (SPF, DKIM, DMARC), its age, its mailbox
            provider, a score of its mail set-up, and known spam traps.{" "}
            {mine === undefined
              ? "To use a plan, create an account and ask the operator of this service to switch it."
              : "To change your plan or to get credits, ask the operator of this service."}
          </p>
        </>
      )}
    </LoadedSheet>
  );
}
