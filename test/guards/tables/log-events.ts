import { readDocument, sourcePaths } from "../docs-tables.ts";

const LEVELS = ["info", "warn", "error"] as const;
type Level = (typeof LEVELS)[number];

const EVENT = /"([a-z_]+\.[a-z_]+)"/g;

/** Calls that log: of a log by its level, and of helpers that log an error under the name they are given. */
const LOGS = /\blog\??\.(info|warn|error)\(|(?:\bflushLast|\blookOften|\bcurrentFile|#failed)\(/g;

/** The arguments of a call up to its first object or closing bracket: where the event's name stands. */
const argumentsAt = (text: string, at: number): string =>
  /^[^{})]*/.exec(text.slice(at, at + 200))?.[0] ?? "";

/** Every event of the program's log -> its levels, as the sources write them. */
function logEvents(): ReadonlyMap<string, ReadonlySet<Level>> {
  const events = new Map<string, Set<Level>>([["log.lines_lost", new Set(["warn"])]]);
  for (const file of sourcePaths().filter((path) => /(?<!\.test)\.ts$/.test(path))) {
    const text = readDocument(file);
    for (const { 0: call, 1: level = "error", index } of text.matchAll(LOGS)) {
      for (const [, event = ""] of argumentsAt(text, index + call.length).matchAll(EVENT)) {
        events.set(event, (events.get(event) ?? new Set()).add(level as Level));
      }
    }
  }
  return events;
}

const code = (event: string): string => `\`${event}\``;

/** A row for each area: its events by level. */
export function logEventRows(): readonly (readonly string[])[] {
  const events = [...logEvents()].toSorted(([a], [b]) => (a < b ? -1 : 1));
  const areaOf = (event: string): string => event.split(".", 1)[0] ?? "";
  return [...new Set(events.map(([event]) => areaOf(event)))].map((area) => [
    area,
    ...LEVELS.map((level) =>
      events
        .filter(([event, levels]) => areaOf(event) === area && levels.has(level))
        .map(([event]) => code(event))
        .join(" "),
    ),
  ]);
}
