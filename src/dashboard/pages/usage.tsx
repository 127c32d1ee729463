import type { ComponentChildren, VNode } from "preact";
import { useEffect, useState } from "preact/hooks";
import { count, counted, duration, limitText, percent, shortDay } from "../lib/format.ts";
import { useLoad } from "../lib/load.ts";
import { allowance, createdDay, has, leftOf, loadAllowance } from "../lib/session.ts";
import type { Credits, OutcomeReport, Purse, Usage, UsageDay } from "../lib/shapes.ts";
import {
  Bones,
  Empty,
  Lines,
  Meter,
  PageHead,
  Sheet,
  Shown,
  Table,
  Time,
} from "../parts/basic.tsx";
import { Chart, stepsOf } from "../parts/chart.tsx";
import { reasonName, tierName } from "../words/names.ts";
import { type Counts, DECISION } from "../words/policy.ts";
import { Plans } from "./plans.tsx";

const RANGES = [7, 30, 90, 400] as const;

/** What was decided and checked, and what is left of the plan. */
export function UsagePage(): VNode {
  const [days, setDays] = useState<number>(30);
  const loading = useLoad<Usage>(`usage?days=${String(days)}`);
  useEffect(() => void loadAllowance(), []);
  return (
    <>
      <PageHead title="Usage" lead="Days run from midnight to midnight, UTC.">
        <div class="seg" role="group" aria-label="Days shown">
          {RANGES.map((range) => (
            <button
              key={range}
              type="button"
              aria-pressed={range === days}
              onClick={() => setDays(range)}
            >
              {range} days
            </button>
          ))}
        </div>
      </PageHead>
      <AllowanceSheet />
      <Shown loading={loading} lines={8}>
        {(usage) => (
          <>
            {has("gate") ? <KeptOut days={days} hours={usage.hours} /> : null}
            <Checks usage={usage} />
          </>
        )}
      </Shown>
      <CreditSheet />
      <Plans />
    </>
  );
}

/** What is left: the one place of the page that says so. */
function AllowanceSheet(): VNode {
  const known = allowance.value;
  if (known === undefined) return <Bones lines={3} />;
  const { tier, day, month, credits, rate_per_minute: rate } = known;
  return (
    <Sheet title={`Your plan: ${tierName(tier)}`}>
      <div class="figures">
        <PurseFigure when="today" purse={day} />
        <PurseFigure when="this month" purse={month} />
        <Figure value={count(credits)}>
          {credits === 1 ? "credit" : "credits"}, used when the plan is spent
        </Figure>
        <Figure value={limitText(rate)}>
          {rate === null ? "on requests" : "requests a minute"}
        </Figure>
      </div>
      {tier === "new_free" ? (
        <p class="note">
          An account has these smaller limits in its first 24 hours; then the plan Free applies.
        </p>
      ) : null}
    </Sheet>
  );
}

const Figure = (props: { value: string; children: ComponentChildren }): VNode => (
  <div class="figure">
    <b>{props.value}</b>
    <span>{props.children}</span>
  </div>
);

function PurseFigure({ when, purse }: { when: string; purse: Purse }): VNode {
  const { used, limit } = purse;
  if (limit === null) return <Figure value={count(used)}>used {when}, no limit</Figure>;
  const left = leftOf(purse);
  return (
    <div class="figure">
      <b>{count(left)}</b>
      <span>
        of {count(limit)} left {when}, starts again <Time at={purse.resets_at} />
      </span>
      <Meter share={limit === 0 ? 0 : left / limit} />
    </div>
  );
}

const sumOf = <Row,>(rows: readonly Row[], pick: (row: Row) => number): number =>
  rows.reduce((total, row) => total + pick(row), 0);

/** Days from the account's first one, or from the first one that has something. */
function since<Row>(rows: readonly Row[], dayOf: (row: Row) => string, sum: (row: Row) => number) {
  const first = rows.findIndex((row) => dayOf(row) >= createdDay() || sum(row) > 0);
  return rows.slice(Math.max(0, first));
}

type Line<Row> = readonly [name: string, colour: string, pick: (row: Row) => number];

/** Bars by day or week; by the hour on the first day, where hours are known. */
function Bars<Row>(props: {
  what: string;
  days: readonly string[];
  rows: readonly Row[];
  hours?: readonly Row[];
  lines: readonly Line<Row>[];
  before?: { readonly name: string; readonly values: readonly number[] };
}): VNode {
  const { what, rows, hours = [], lines, before } = props;
  const days = stepsOf(props.days.map(shortDay));
  const isFirst = rows.length < 2 && hours.length > 0;
  const step = isFirst ? "Hour" : days.step;
  return (
    <Chart
      label={`${what} by ${step.toLowerCase()}`}
      step={step}
      steps={isFirst ? hours.map((_, hour) => `${String(hour)}:00 UTC`) : days.names}
      series={lines.map(([name, colour, pick]) => ({
        name,
        colour,
        values: isFirst ? hours.map(pick) : days.sums(rows.map(pick)),
      }))}
      before={before && { ...before, values: days.sums(before.values) }}
    />
  );
}

const DECISION_LINES = (["reject", "challenge", "review", "accept"] as const).map(
  (one): Line<Counts> => [DECISION[one].words, DECISION[one].colour, (counts) => counts[one]],
);

const allOf = ({ accept, challenge, review, reject }: Counts): number =>
  accept + challenge + review + reject;

/** What the sign-up gate decided, by day or by the hour of the first day, by reason and by key. */
function KeptOut({ days, hours }: { days: number; hours: Usage["hours"] }): VNode {
  const loading = useLoad<OutcomeReport>(`outcomes?days=${String(days)}`);
  return (
    <Shown loading={loading} lines={6}>
      {(outcomes) =>
        outcomes.total === 0 ? (
          <Sheet title="What we kept out">
            <p class="prose">
              No sign-up was decided in these days. <a href="gate/hooks">Connect your form</a>
            </p>
          </Sheet>
        ) : (
          <Decisions outcomes={outcomes} hours={hours} />
        )
      }
    </Shown>
  );
}

function Decisions(props: { outcomes: OutcomeReport; hours: Usage["hours"] }): VNode {
  const { days, before, total, reasons, keys } = props.outcomes;
  const refused = sumOf(days, ({ reject }) => reject);
  const gap = refused - sumOf(before, ({ reject }) => reject);
  const trend =
    gap === 0 ? "as many as" : `${count(Math.abs(gap))} ${gap > 0 ? "more" : "fewer"} than`;
  const period = `in the ${String(days.length)} days before`;
  const isWhole = before.length >= days.length;
  const rows = since(days, ({ day }) => day, allOf);
  const ghost = { name: `all ${period}`, values: before.map(allOf) };
  return (
    <section class="sheet stack">
      <h2 class="say">We kept out {counted(refused, "bad sign-up")}.</h2>
      <p class="prose">
        {percent(refused / total)} of {counted(total, "sign-up")}
        {isWhole ? `, ${trend} ${period}` : ""}.
      </p>
      <Bars
        what="Sign-ups"
        days={rows.map(({ day }) => day)}
        rows={rows}
        hours={props.hours}
        lines={DECISION_LINES}
        {...(isWhole && rows.length === days.length && { before: ghost })}
      />
      <div class="even">
        <div>
          <h3 class="small-head">By reason</h3>
          <Lines
            rows={reasons.map(({ decision, reason, count: times }) => [
              `${DECISION[decision].words}: ${reasonName(reason)}`,
              count(times),
            ])}
          />
        </div>
        <div>
          <h3 class="small-head">By key</h3>
          <Lines
            rows={keys.map(({ name, ...counts }) => [
              name ?? "without a key",
              <span class="note">
                {count(counts.reject)} of {count(allOf(counts))} rejected
              </span>,
            ])}
          />
        </div>
      </div>
    </section>
  );
}

const used = ({ requests, units, credits }: UsageDay): number => requests + units + credits;

/** Checks and requests by day, and how long answers took. */
function Checks({ usage }: { usage: Usage }): VNode {
  const rows = since(usage.days, ({ date }) => date, used);
  if (sumOf(rows, used) === 0) {
    return (
      <section class="sheet">
        <Empty title="Nothing was used in these days">
          Charts appear with your first check. <a href="./">Check an address</a> here, or call the
          API with a key.
        </Empty>
      </section>
    );
  }
  return (
    <>
      <Sheet title="Checks">
        <Bars
          what="Checks"
          days={rows.map(({ date }) => date)}
          rows={rows}
          lines={[
            ["From the plan", "k-accent", ({ units }) => units],
            ["By credits", "k-accent-2", ({ credits }) => credits],
          ]}
        />
      </Sheet>
      <Requests rows={rows} hours={usage.hours} />
      <Latency usage={usage} />
    </>
  );
}

type Requested = Pick<UsageDay, "requests" | "refusals">;

/** Requests by day or hour, of an account or of the whole server. */
export function Requests(props: {
  rows: readonly UsageDay[];
  hours?: readonly Requested[];
}): VNode {
  const lines: readonly Line<Requested>[] = [
    ["Answered", "k-accent", ({ requests, refusals }) => requests - refusals],
    ["Refused", "k-no", ({ refusals }) => refusals],
  ];
  return (
    <Sheet title="Requests">
      <Bars<Requested>
        what="Requests"
        days={props.rows.map(({ date }) => date)}
        rows={props.rows}
        hours={props.hours ?? []}
        lines={lines}
      />
    </Sheet>
  );
}

type Timed = Pick<Usage, "days" | "latency_edges_ms">;

/** Requests by how long they took, over all days: one count for each edge and one for what is above. */
const byLatency = ({ days, latency_edges_ms: edges }: Timed) =>
  [...edges, Infinity].map((edge, at) => ({
    words: edge === Infinity ? `over ${duration(edges.at(-1) ?? 0)}` : `up to ${duration(edge)}`,
    requests: sumOf(days, ({ latency }) => latency[at] ?? 0),
  }));

/** "up to 20 ms" took that share of all requests; "–" without requests. */
export function quantile(usage: Timed, share: number): string {
  const rows = byLatency(usage);
  const all = sumOf(rows, ({ requests }) => requests);
  let seen = 0;
  const found = rows.find(({ requests }) => (seen += requests) >= all * share);
  return all === 0 ? "–" : (found?.words ?? "–");
}

function Latency({ usage }: { usage: Usage }): VNode {
  const rows = byLatency(usage);
  const all = Math.max(
    1,
    sumOf(rows, ({ requests }) => requests),
  );
  return (
    <Sheet title="How long answers took">
      <p class="prose">
        Half of the answers took <b>{quantile(usage, 0.5)}</b>, 95 of 100{" "}
        <b>{quantile(usage, 0.95)}</b>.
      </p>
      <details>
        <summary>All times</summary>
        <Table
          label="Requests by time"
          head={["Time", "Requests", "Share"]}
          numbers={[1, 2]}
          rows={rows.map(({ words, requests }) => [
            words,
            count(requests),
            percent(requests / all),
          ])}
        />
      </details>
    </Sheet>
  );
}

const CREDIT_WORDS = { grant: "Granted", charge: "Checks", refund: "Given back" } as const;

function creditWords({ reason, reference, amount }: Credits["entries"][number]): string {
  const words = reason === "grant" && amount < 0 ? "Taken back" : CREDIT_WORDS[reason];
  return reference === "" ? words : `${words}: ${reference}`;
}

function CreditSheet(): VNode {
  const loading = useLoad<Credits>("credits");
  return (
    <Sheet title="Credits">
      <p class="prose">
        One credit pays for one check when the plan's rate or quota is spent. Credits do not expire.
        The operator of this service grants them.
      </p>
      <Shown loading={loading}>
        {({ entries }) =>
          entries.length === 0 ? (
            <p class="note">No credits have moved yet.</p>
          ) : (
            <Table
              tall
              label="Movements of credits"
              head={["When", "What", "Credits", "Balance"]}
              numbers={[2, 3]}
              rows={entries.map((entry) => [
                <Time at={entry.created_at} />,
                creditWords(entry),
                entry.amount > 0 ? `+${count(entry.amount)}` : `−${count(-entry.amount)}`,
                count(entry.balance_after),
              ])}
            />
          )
        }
      </Shown>
    </Sheet>
  );
}
