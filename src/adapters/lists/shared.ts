import type { Datasets, ListSource, MailServerKind, OperatorLists } from "../../core/datasets.ts";
import { domainEvidence } from "../../core/disposable.ts";
import { parseDomain } from "../../core/domain.ts";
import type { Evidence } from "../../core/signals.ts";
import { attachNameSet, attachNameTable, LISTS_MAX, nameTableBuilder } from "./name-table.ts";
import { noOperatorLists } from "./operator.ts";

/** One list of disposable domains, as its source gives it. */
export interface DisposableList extends ListSource {
  readonly names: readonly string[];
}

/** What lists hold before they are packed: names in any case, as U-labels or A-labels. */
export interface ListContents {
  readonly version: number;
  readonly disposable: readonly DisposableList[];
  /** Names that no list may call disposable, whatever it holds. */
  readonly exceptions: ReadonlySet<string>;
  readonly free: readonly string[];
  /** Known good beside the free providers. */
  readonly knownGood: readonly string[];
  /** Lower case. */
  readonly roles: readonly string[];
  readonly mailServers: readonly (readonly [host: string, kind: MailServerKind])[];
}

/** Everything of `Datasets` but the operator's word, in buffers that threads share: post it and attach. */
export interface SharedDatasets {
  readonly version: number;
  readonly sources: readonly ListSource[];
  readonly disposable: SharedArrayBuffer;
  readonly free: SharedArrayBuffer;
  readonly knownGood: SharedArrayBuffer;
  readonly roles: SharedArrayBuffer;
  readonly mailServers: SharedArrayBuffer;
}

const KINDS: readonly MailServerKind[] = ["dedicated", "shared"];

/** Packs lists. Lines that are no domain name are left out. Throws for more lists than a table can hold. */
export function shareDatasets(contents: ListContents): SharedDatasets {
  const sources = contents.disposable.map(({ id, curated }) => ({ id, curated }));
  if (sources.length > LISTS_MAX) throw new Error(`more than ${String(LISTS_MAX)} lists`);
  const { exceptions } = contents;
  const disposable = pack(
    contents.disposable.map(({ names }) => names),
    (line) => {
      const name = domainName(line);
      return name === undefined || exceptions.has(name) ? undefined : name;
    },
  );
  const isHonest = honestBy(sources, disposable);
  const honest = (lines: readonly string[]): readonly string[] =>
    lines.map(domainName).filter((name): name is string => name !== undefined && isHonest(name));
  const free = honest(contents.free);
  const hostsOf = (kind: MailServerKind): readonly string[] =>
    contents.mailServers.flatMap(([host, its]) => (its === kind ? host : []));
  return {
    version: contents.version,
    sources,
    disposable,
    free: pack([free], asItIs),
    knownGood: pack([[...free, ...honest(contents.knownGood)]], asItIs),
    roles: pack([contents.roles], asItIs),
    mailServers: pack(KINDS.map(hostsOf), domainName),
  };
}

/** Reads shared datasets where they lie; nothing is copied. `operator` is each process's own. */
export function attachDatasets(shared: SharedDatasets, operator: OperatorLists): Datasets {
  const servers = attachNameTable(shared.mailServers);
  return {
    version: shared.version,
    sources: shared.sources,
    disposable: attachNameTable(shared.disposable),
    mailServers: {
      kindOf: (host) => KINDS.find((_, bit) => (servers.sourcesOf(host) >> bit) & 1),
    },
    free: attachNameSet(shared.free),
    knownGood: attachNameSet(shared.knownGood),
    roles: attachNameSet(shared.roles),
    operator,
  };
}

const asItIs = (name: string): string => name;

/** List n of `lists` becomes bit n; `nameOf` gives each line as it is looked up, undefined to leave it out. */
function pack(
  lists: readonly (readonly string[])[],
  nameOf: (line: string) => string | undefined,
): SharedArrayBuffer {
  const count = lists.reduce((sum, { length }) => sum + length, 0);
  const builder = nameTableBuilder(count);
  for (const [bit, names] of lists.entries()) {
    for (const line of names) {
      const name = nameOf(line);
      if (name !== undefined) builder.add(name, bit);
    }
  }
  return builder.finish();
}

/**
 * Whether a list of free providers is right about a name. Such lists hold throw-away services too: what a
 * curated list holds, what lies under a listed name or says by its own name what it is for earns no trust.
 */
function honestBy(sources: readonly ListSource[], disposable: SharedArrayBuffer) {
  const empty = pack([], asItIs);
  const plain = { free: empty, knownGood: empty, roles: empty, mailServers: empty };
  const datasets = attachDatasets({ version: 0, sources, disposable, ...plain }, noOperatorLists);
  const curated = sources.reduce((bits, list, bit) => bits | (list.curated ? 1 << bit : 0), 0);
  const accuses = ({ signal, sources: lists = 0 }: Evidence): boolean =>
    signal === "blacklist_exact"
      ? (lists & curated) !== 0
      : signal === "blacklist_parent" || signal === "keyword_match";
  return (name: string): boolean => {
    const parsed = parseDomain(name);
    return parsed.ok && !domainEvidence(parsed.value, { kind: "unknown" }, datasets).some(accuses);
  };
}

/** A name without upper case or U-labels; whether it is well-formed too does not matter: no other is asked for. */
const PLAIN = /^[a-z0-9.-]+$/;

/** The name as it is looked up; undefined when the line is no domain name. */
function domainName(line: string): string | undefined {
  if (PLAIN.test(line)) return line;
  const parsed = parseDomain(line);
  return parsed.ok ? parsed.value.name : undefined;
}
