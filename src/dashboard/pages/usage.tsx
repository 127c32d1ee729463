import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type {
  CreditsJson,
  OutcomeReport,
  PurseJson,
  Usage,
  UsageDayJson,
} from "../../http/account/shapes.ts";
import { count, counted, limitText, percent, plural, sumOf } from "../lib/format.ts";
import { allowance, leftOf, loadAllowance, session } from "../lib/session.ts";
import { Chart, type ChartLine } from "../parts/chart.tsx";
import { useChoice } from "../parts/form.tsx";
import { Meter, Time } from "../parts/marks.tsx";
import { Skeleton, Loaded, PageHead, Sheet } from "../parts/page.tsx";
import { Lines, type NamedValue, Pairs, Table } from "../parts/rows.tsx";
import { reasonName, tierName } from "../words/names.ts";
import { type DecisionCounts, DECISION } from "../words/policy.ts";

const RANGES = ["7", "30", "90", "400"].map((days) => [days, `${days} days`] as const);

export function Page(): VNode {
  const [days, choice] = useChoice("Days shown", RANGES, "30");
  useEffect(loadAllowance, []);
  return (
    <>
      <PageHead title="Usage" lead="Days run from midnight to midnight, UTC.">
        {choice}
      </PageHead>
      <AllowanceSheet />
      <Loaded path={`usage?days=${days}`} lines={8}>
        {(usage: Usage) => (
          <>
            <Loaded path={`outcomes?days=${days}`} lines={6}>
              {(outcomes: OutcomeReport) =>
                outcomes.total === 0 ? NOTHING_DECIDED : keptOut(outcomes)
              }
            </Loaded>
            {checks(usage)}
          </>
        )}
      </Loaded>
      <CreditSheet />
    </>
  );
}

function AllowanceSheet(): VNode {
  const known = allowance.value;
  if (known === undefined) return <Skeleton lines={3} />;
  const { tier, day, month, credits, rate_per_minute: rate, own_limits: own } = known;
  const ownWords = (name: string): string => (own.includes(name) ? ", your own limit" : "");
  return (
    <Sheet title={`Your plan: ${tierName(tier)}`}>
      <Pairs
        cells
        rows={[
          purseRow(`today${ownWords("daily")}`, day),
          purseRow(`this month${ownWords("monthly")}`, month),
          [`${plural(credits, "credit", "credits")}, used when the plan is spent`, count(credits)],
          [
            `${rate === null ? "on requests" : "requests a minute"}${ownWords("rate_per_minute")}`,
            limitText(rate),
          ],
        ]}
      />
      {tier === "new_free" && (
        <p class="note">
          An account has these smaller limits in its first 24 hours; then the plan Free applies.
        </p>
      )}
    </Sheet>
  );
}

function purseRow(when: string, purse: PurseJson): NamedValue {
  const { used, limit } = purse;
  if (limit === null) return [`used ${when}, no limit`, count(used)];
  const left = leftOf(purse);
  const words = (
    <>
      of {count(limit)} left {when}, starts again <Time at={purse.resets_at} />
      <Meter share={limit === 0 ? 0 : left / limit} />
    </>
  );
  return [words, count(left)];
}

function since<Row>(rows: readonly Row[], dayOf: (row: Row) => string, sum: (row: Row) => number) {
  const created = session.value.account?.created_at.slice(0, 10) ?? "";
  const first = rows.findIndex((row) => dayOf(row) >= created || sum(row) > 0);
  return rows.slice(Math.max(0, first));
}

const DECISION_LINES = (["reject", "challenge", "review", "accept"] as const).map(
  (one): ChartLine<DecisionCounts> => [
    DECISION[one].words,
    DECISION[one].colour,
    (counts) => counts[one],
  ],
);

const allOf = ({ accept, challenge, review, reject }: DecisionCounts): number =>
  accept + challenge + review + reject;

const NOTHING_DECIDED = (
  <Sheet title="What we kept out">
    <p class="prose">
      No sign-up was decided in these days. <a href="gate/hooks">Connect your form</a>
    </p>
  </Sheet>
);

const SLIPS: ReadonlySet<string> = new Set(["format", "typo"]);

function keptOut({ days, before, total, ...outcomes }: OutcomeReport): VNode {
  const { reasons, keys } = outcomes;
  const refused = sumOf(days, ({ reject }) => reject);
  const slips = sumOf(reasons, ({ decision, reason, count: times }) =>
    decision === "reject" && SLIPS.has(reason) ? times : 0,
  );
  const asked = sumOf(days, ({ challenge }) => challenge);
  const gap = refused - sumOf(before, ({ reject }) => reject);
  const trend =
    gap === 0 ? "as many as" : `${count(Math.abs(gap))} ${gap > 0 ? "more" : "fewer"} than`;
  const period = `in the ${String(days.length)} days before`;
  // A new account has no days before: nothing is compared with nothing.
  const isWhole = before.length >= days.length && sumOf(before, allOf) > 0;
  const rows = since(days, ({ day }) => day, allOf);
  const ghost = { name: `all ${period}`, values: before.map(allOf) };
  return (
    <section class="sheet stack">
      <h2 class="say">We kept out {counted(refused - slips, "bad sign-up")}.</h2>
      <p class="prose">
        {percent((refused - slips) / total)} of {counted(total, "sign-up")}.{" "}
        {slips > 0 && `${counted(slips, "typing slip was", "typing slips were")} sent back. `}
        {asked > 0 && `${counted(asked, "sign-up was", "sign-ups were")} asked to look again. `}
        {isWhole && `All refusals are ${trend} ${period}.`}
      </p>
      <Chart
        what="Sign-ups"
        days={rows.map(({ day }) => day)}
        {...{ rows, lines: DECISION_LINES }}
        {...(isWhole && rows.length === days.length && { before: ghost })}
      />
      <div class="even">
        <div class="stack close">
          <h3>By reason</h3>
          <Lines
            rows={reasons.map(({ decision, reason, count: times }) => [
              `${DECISION[decision].words}: ${reasonName(reason)}`,
              count(times),
            ])}
          />
        </div>
        <div class="stack close">
          <h3>By key</h3>
          <Lines
            rows={keys.map(({ name, ...counts }) => [
              name ?? "without a key",
              <span class="note">{`${count(counts.reject)} of ${count(allOf(counts))} rejected`}</span>,
            ])}
          />
        </div>
      </div>
    </section>
  );
}

const used = ({ requests, units, credits }: UsageDayJson): number => requests + units + credits;

const CHECK_LINES: readonly ChartLine<UsageDayJson>[] = [
  ["From the plan", "accent", ({ units }) => units],
  ["By credits", "accent-2", ({ credits }) => credits],
];

function checks(usage: Usage): VNode {
  const rows = since(usage.days, ({ date }) => date, used);
  if (sumOf(rows, used) === 0) {
    return (
      <Sheet title="Nothing was used in these days">
        <p class="prose">
          Charts appear with your first check. <a href="./">Check an address</a> here, or call the
          API with a key.
        </p>
      </Sheet>
    );
  }
  return (
    <>
      <Sheet title="Checks">
        <Chart
          what="Checks"
          days={rows.map(({ date }) => date)}
          {...{ rows, lines: CHECK_LINES }}
        />
      </Sheet>
      {requestSheet(rows)}
    </>
  );
}

export const usedIn = (days: readonly UsageDayJson[], when = ""): readonly NamedValue[] => [
  [`checks${when}`, count(sumOf(days, ({ units, credits }) => units + credits))],
  [`requests${when}`, count(sumOf(days, ({ requests }) => requests))],
  [`refused requests${when}`, count(sumOf(days, ({ refusals }) => refusals))],
];

type Requested = Pick<UsageDayJson, "requests" | "refusals">;

const REQUEST_LINES: readonly ChartLine<Requested>[] = [
  ["Answered", "accent", ({ requests, refusals }) => requests - refusals],
  ["Refused", "no-fill", ({ refusals }) => refusals],
];

export const requestSheet = (rows: readonly UsageDayJson[]): VNode =>
  sumOf(rows, ({ requests }) => requests) === 0 ? (
    <p class="note">No requests in these days.</p>
  ) : (
    <Sheet title="Requests">
      <Chart<Requested>
        what="Requests"
        days={rows.map(({ date }) => date)}
        {...{ rows, lines: REQUEST_LINES }}
      />
    </Sheet>
  );

const CREDIT_WORDS = { grant: "Granted", charge: "Checks", refund: "Given back" } as const;

function creditWords({ reason, reference, amount }: CreditsJson["entries"][number]): string {
  const words = reason === "grant" && amount < 0 ? "Taken back" : CREDIT_WORDS[reason];
  return reference === "" ? words : `${words}: ${reference}`;
}

const CreditSheet = (): VNode => (
  <Sheet title="Credits">
    <p class="prose">
      One credit pays for one check when the plan's rate or quota is spent. Credits do not expire.
      The operator of this service grants them.
    </p>
    <Loaded path="credits">
      {({ entries }: CreditsJson) => (
        <Table
          tall
          label="Movements of credits"
          head={["When", "What", "Credits", "Balance"]}
          numbers={[2, 3]}
          none="No credits have moved yet."
          rows={entries.map((entry) => [
            <Time at={entry.created_at} />,
            creditWords(entry),
            entry.amount > 0 ? `+${count(entry.amount)}` : `−${count(-entry.amount)}`,
            count(entry.balance_after),
          ])}
        />
      )}
    </Loaded>
  </Sheet>
);
