import { createMetrics, REQUESTS } from "../../../src/base/metrics.ts";
import { type Resource, RESOURCES } from "../../../src/base/resources.ts";
import { SIGNALS } from "../../../src/core/evidence/signals.ts";
import { FETCHED_SOURCES } from "../../../src/lists/feed-sources.ts";
import * as program from "../../../src/main/metrics.ts";
import { SETTINGS } from "../../../src/main/settings/config.ts";
import { readYaml } from "../deploy/deploy-files.ts";
import { cells } from "../docs-tables.ts";
import { logEventRows } from "./log-events.ts";
import { SHOWN } from "./shown-refusals.ts";

/** A table of a page, found by its head. */
interface DocumentTable {
  readonly page: string;
  readonly head: readonly string[];
  /** The first columns, made from the code. What people write in the others stays beside the same first cell. */
  readonly rows: () => readonly (readonly string[])[];
}

const amount = (count: number): string => count.toLocaleString("en-US");
const code = (text: string): string => `\`${text}\``;

function resourceRow([name, resource]: readonly [string, Resource]): readonly string[] {
  const { unit, total, perOwner, queue, queuePerOwner } = resource;
  const waits =
    queue + queuePerOwner === 0 ? "none" : `${amount(queue)}, ${amount(queuePerOwner)} an owner`;
  return [code(name), `${amount(total)} ${unit}`, amount(perOwner), waits];
}

interface Described {
  readonly name: string;
  readonly type: string;
  readonly help: string;
  readonly labelNames: readonly string[];
}

/** Every metric of the program, those of Node too. */
const isOurs = ({ name }: Described): boolean => name.startsWith("gatepost_");

export function everyMetric(): readonly Described[] {
  const { registry } = createMetrics();
  const { FEEDS, HEALTH, PROGRAM, ANSWER_CACHE, WORKER, SHARES, BACKLOG, DNS, VERDICTS } = program;
  const never = () => new Promise<never>(() => undefined);
  program.watch<never>(registry, FEEDS, never);
  program.eventCounter(registry, "listFetches");
  for (const figures of [PROGRAM, HEALTH, ANSWER_CACHE, DNS, VERDICTS, WORKER, SHARES, BACKLOG]) {
    program.watch<never>(registry, figures, never);
  }
  for (const event of ["webhooks", "signIns", "feedback", "waves", "hooks"] as const) {
    program.eventCounter(registry, event);
  }
  program.decisionCounter(registry);
  const requests = { ...REQUESTS, type: "histogram", labelNames: ["route", "method", "status"] };
  return [requests, ...(registry.getMetricsAsArray() as unknown as readonly Described[])];
}

interface Alerts {
  readonly groups: readonly {
    readonly rules: readonly {
      readonly alert: string;
      readonly expr: string;
      readonly for: string;
      readonly labels: { readonly severity: string };
    }[];
  }[];
}

export const alerts = readYaml<Alerts>("deploy/prometheus/alerts.yaml").groups.flatMap(
  ({ rules }) => rules,
);

export const TABLES: readonly DocumentTable[] = [
  {
    page: "docs/configuration.md",
    head: ["Setting", "Default", "Meaning"],
    rows: () =>
      Object.values(SETTINGS).map(({ name, shownDefault, meaning }) => [
        code(name),
        shownDefault,
        meaning,
      ]),
  },
  {
    page: "docs/signals.md",
    head: ["Signal", "Weight", "About", "Means"],
    rows: () =>
      Object.entries(SIGNALS).map(([name, { weight, about, means }]) => [
        code(name),
        weight.toFixed(2),
        about,
        means,
      ]),
  },
  {
    page: "docs/errors.md",
    head: ["Code", "Status", "Sentence", "When", "What to do"],
    rows: () =>
      Object.values(SHOWN)
        .toSorted((a, b) => a.status - b.status)
        .map(({ code: name, status, message }) => [
          `<a id="${name}"></a>${code(name)}`,
          String(status),
          message,
        ]),
  },
  {
    page: "docs/detection.md",
    head: ["List", "Kind", "Floor", "Source", "Until it is fetched"],
    rows: () =>
      FETCHED_SOURCES.map(({ id, kind, floor, rotating, path }) => [
        code(id),
        rotating ? `${kind}, rotates` : kind,
        amount(floor),
        code(path),
      ]),
  },
  { page: "docs/operations/run.md", head: ["Area", "info", "warn", "error"], rows: logEventRows },
  {
    page: "docs/measurements.md",
    head: ["Resource", "Total", "An owner", "May wait", "Without room"],
    rows: () => Object.entries(RESOURCES).map(resourceRow),
  },
  {
    page: "docs/operations/monitoring.md",
    head: ["Metric", "Labels", "Means"],
    rows: () => [
      ...everyMetric()
        .filter(isOurs)
        .map(({ name, labelNames, help }) => [
          code(name),
          labelNames.map(code).join(", "),
          help.replace(/"(\w+)"/g, "`$1`"),
        ]),
      ["`process_*`, `nodejs_*`", "", "the process"],
    ],
  },
  {
    page: "docs/operations/monitoring.md",
    head: ["Alert", "Do"],
    rows: () => alerts.map(({ alert }) => [code(alert)]),
  },
];

const line = (row: readonly string[]): string =>
  `|${row.map((cell) => cell.replaceAll("|", "\\|")).join("|")}|`;

/** The page with the table as the code has it. */
export function withTable(text: string, { page, head, rows }: DocumentTable): string {
  const lines = text.split("\n");
  const start = lines.indexOf(line(head));
  if (start < 0) throw new Error(`${page} has no table with the head ${line(head)}`);
  const length = lines.slice(start).findIndex((each) => !each.startsWith("|"));
  const old = new Map(
    lines.slice(start + 2, start + length).map((each) => {
      const row = cells(each);
      return [row[0], row];
    }),
  );
  const made = rows().map((row) => {
    const written = old.get(row[0] ?? "") ?? head.map(() => "");
    return line([...row, ...written.slice(row.length)]);
  });
  return lines.toSpliced(start + 2, length - 2, ...made).join("\n");
}
