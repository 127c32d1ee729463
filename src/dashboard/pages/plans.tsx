import type { VNode } from "preact";
import type { Plan } from "../api/shapes.ts";
import { useLoad } from "../app/load.ts";
import { count } from "../app/numbers.ts";
import { session } from "../app/session.ts";
import { PageHead } from "../parts/page-head.tsx";
import { Shown } from "../parts/states.tsx";
import { tierName } from "../words/tiers.ts";

/** The plans as the server's tier table has them. */
export function PlansPage(): VNode {
  const loading = useLoad<{ readonly plans: readonly Plan[] }>("plans");
  const mine = session.value?.account?.tier;
  return (
    <>
      <PageHead
        title="Plans"
        lead="Every plan finds bad addresses, missing mail servers and disposable domains. A check is one address or domain; in a list every different entry counts once."
      />
      <Shown loading={loading} lines={6}>
        {({ plans }) => (
          <div class="plans">
            {plans.map((plan) => (
              <PlanSheet key={plan.name} plan={plan} isMine={plan.name === mine} />
            ))}
          </div>
        )}
      </Shown>
      <p class="prose">
        Premium checks look further into a domain: who may send in its name (SPF, DKIM, DMARC), its
        age, its mailbox provider, a score of its mail set-up, and known spam traps.
      </p>
      <p class="prose">
        {mine === undefined
          ? "To use a plan, create an account and ask the operator of this service to switch it."
          : "To change your plan or to get credits for use beyond it, ask the operator of this service."}
      </p>
    </>
  );
}

function PlanSheet({ plan, isMine }: { plan: Plan; isMine: boolean }): VNode {
  return (
    <section class={isMine ? "sheet plan mine" : "sheet plan"}>
      <div class="bar">
        <h2>{tierName(plan.name)}</h2>
        {isMine ? <span class="chip">Your plan</span> : null}
      </div>
      <ul>
        <Line name="Checks a day" value={plan.daily} />
        <Line name="Checks a month" value={plan.monthly} />
        <Line name="Requests a minute" value={plan.rate_per_minute} />
        <Line name="Entries a list" value={plan.bulk_limit} />
        <li>
          <span>Premium checks</span>
          <span>{plan.premium ? "Included" : "No"}</span>
        </li>
      </ul>
    </section>
  );
}

function Line({ name, value }: { name: string; value: number | null }): VNode {
  return (
    <li>
      <span>{name}</span>
      <span>{value === null ? "No limit" : count(value)}</span>
    </li>
  );
}
