import type { VNode } from "preact";
import type { Plan } from "../../api/shapes.ts";
import { useLoad } from "../../app/load.ts";
import { count } from "../../app/numbers.ts";
import { session } from "../../app/session.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { Shown } from "../../parts/states.tsx";
import { t } from "../../app/i18n.ts";
import { tierName } from "../../words/tiers.ts";

/** The plans as the server's tier table has them. */
export function PlansPage(): VNode {
  const loading = useLoad<{ readonly plans: readonly Plan[] }>("plans");
  const mine = session.value?.account?.tier;
  return (
    <>
      <PageHead
        title={t("Plans")}
        lead={t(
          "Every plan finds bad addresses, missing mail servers and disposable domains. A check is one address or domain; in a list every different entry counts once.",
        )}
      />
      <Shown loading={loading} lines={6}>
        {({ plans }) => <PlanTable plans={plans} mine={mine} />}
      </Shown>
      <p class="prose">
        {t(
          "Premium checks look further into a domain: who may send in its name (SPF, DKIM, DMARC), its age, its mailbox provider, a score of its mail set-up, and known spam traps.",
        )}
      </p>
      <p class="prose">
        {mine === undefined
          ? t("To use a plan, create an account and ask the operator of this service to switch it.")
          : t(
              "To change your plan or to get credits for use beyond it, ask the operator of this service.",
            )}
      </p>
    </>
  );
}

type Row = readonly [name: string, value: (plan: Plan) => string];

const limit = (value: number | null): string => (value === null ? t("No limit") : count(value));

const ROWS: readonly Row[] = [
  ["Checks a day", ({ daily }) => limit(daily)],
  ["Checks a month", ({ monthly }) => limit(monthly)],
  ["Requests a minute", ({ rate_per_minute: rate }) => limit(rate)],
  ["Entries in one list", ({ bulk_limit: most }) => limit(most)],
  ["Premium checks", ({ premium }) => (premium ? t("Included") : t("No"))],
];

/** Plans side by side, so that one line compares one thing. */
function PlanTable({ plans, mine }: { plans: readonly Plan[]; mine: string | undefined }): VNode {
  const mark = (plan: Plan): string => (plan.name === mine ? "mine" : "");
  return (
    <section class="sheet">
      <div class="scroll" tabIndex={0} role="region" aria-label={t("What each plan has")}>
        <table class="plans" style={{ "--plans": String(plans.length) }}>
          <thead>
            <tr>
              <td />
              {plans.map((plan) => (
                <th key={plan.name} scope="col" class={mark(plan)}>
                  {tierName(plan.name)}
                  {plan.name === mine ? <span class="note">{t("Your plan")}</span> : null}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {ROWS.map(([name, value]) => (
              <tr key={name}>
                <th scope="row">{t(name)}</th>
                {plans.map((plan) => (
                  <td key={plan.name} class={mark(plan)}>
                    {value(plan)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
