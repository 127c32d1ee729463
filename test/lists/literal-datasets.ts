import type {
  Datasets,
  MailServerKind,
  Rules,
  OperatorWord,
} from "../../src/core/evidence/datasets.ts";

/** The evidence of a test; absent names are unknown. */
export interface LiteralKnowledge {
  /** Names on a curated list. */
  readonly curated?: readonly string[];
  /** Names on the first and on the second uncurated list. */
  readonly first?: readonly string[];
  readonly second?: readonly string[];
  /** Names on a weak list. */
  readonly weak?: readonly string[];
  /** Names on a list that needs another beside it. */
  readonly doubtful?: readonly string[];
  /** Registrable domains with three or more curated names below them. */
  readonly families?: readonly string[];
  readonly free?: readonly string[];
  readonly knownGood?: readonly string[];
  readonly roles?: readonly string[];
  readonly mailServers?: Readonly<Record<string, MailServerKind>>;
  /** "*.a.example" covers the names one label below it. */
  readonly domains?: Readonly<Record<string, OperatorWord>>;
  readonly mailHosts?: Readonly<Record<string, OperatorWord>>;
  readonly addresses?: Readonly<Record<string, OperatorWord | "account">>;
  /** Ids of lists that the operator switched off: "curated", "first", "second", "weak", "doubtful". */
  readonly feedsOff?: readonly string[];
  readonly traps?: Readonly<Record<string, "listed" | "recycled" | "pristine">>;
}

/** The bits of the lists, in the order of `sources`. */
export const BITS = { curated: 1, first: 2, second: 4, weak: 8, doubtful: 16 } as const;

/** Datasets from a literal. */
export function literalDatasets(known: LiteralKnowledge = {}): Datasets {
  const { curated, first, second, weak, doubtful } = known;
  const lists = [curated, first, second, weak, doubtful].map((names) => new Set(names ?? []));
  const mailServers = new Map(Object.entries(known.mailServers ?? {}));
  return {
    version: 1,
    sources: [
      { id: "curated", kind: "curated" },
      { id: "first", kind: "uncurated" },
      { id: "second", kind: "uncurated" },
      { id: "weak", kind: "weak" },
      { id: "doubtful", kind: "doubtful" },
    ],
    disposable: {
      sourcesOf: (name) => lists.reduce((bits, set, n) => bits | (set.has(name) ? 1 << n : 0), 0),
    },
    families: { sourcesOf: (name) => (known.families?.includes(name) === true ? BITS.curated : 0) },
    mailServers: { kindOf: (host) => mailServers.get(host) },
    free: new Set(known.free ?? []),
    knownGood: new Set(known.knownGood ?? []),
    roles: new Set(known.roles ?? []),
    operator: literalOperator(known),
  };
}

function literalOperator(known: LiteralKnowledge): Rules {
  const domains = new Map(Object.entries(known.domains ?? {}));
  const mailHosts = new Map(Object.entries(known.mailHosts ?? {}));
  const addresses = new Map(Object.entries(known.addresses ?? {}));
  const traps = new Map(Object.entries(known.traps ?? {}));
  return {
    domain: (name) => domains.get(name) ?? domains.get(`*${name.slice(name.indexOf("."))}`),
    named: (name) => domains.get(name),
    mailHost: (host) => mailHosts.get(host),
    address: (canonical) => addresses.get(canonical),
    trap: (subject) => traps.get(subject),
    names: () => [...domains.keys()].map((name) => name.replace("*.", "")),
    isFeedOff: (id) => known.feedsOff?.includes(id) === true,
  };
}
