import type {
  Datasets,
  MailServerKind,
  NameSet,
  OperatorLists,
  OperatorWord,
} from "../src/core/datasets.ts";

/** What a test wants known; all of it may be left out. */
export interface Known {
  /** Names on the curated list "hand". */
  readonly curated?: readonly string[];
  /** Names on the uncurated lists "first" and "second". */
  readonly first?: readonly string[];
  readonly second?: readonly string[];
  readonly free?: readonly string[];
  readonly knownGood?: readonly string[];
  readonly roles?: readonly string[];
  readonly mailServers?: Readonly<Record<string, MailServerKind>>;
  /** Domains; exact. */
  readonly operator?: Readonly<Record<string, OperatorWord>>;
  readonly operatorHosts?: Readonly<Record<string, OperatorWord>>;
  /** Canonical addresses. */
  readonly operatorAddresses?: Readonly<Record<string, OperatorWord | "account">>;
}

/** The bits of the three lists, in the order of `sources`. */
export const BITS = { hand: 1, first: 2, second: 4 } as const;

/** Datasets from literals. */
export function knownDatasets(known: Known = {}): Datasets {
  const { curated = [], first = [], second = [] } = known;
  const setOf = (names: readonly string[] = []): NameSet => new Set(names);
  return {
    version: 1,
    sources: [
      { id: "hand", curated: true },
      { id: "first", curated: false },
      { id: "second", curated: false },
    ],
    disposable: {
      sourcesOf: (name) =>
        (curated.includes(name) ? BITS.hand : 0) |
        (first.includes(name) ? BITS.first : 0) |
        (second.includes(name) ? BITS.second : 0),
    },
    mailServers: { kindOf: getter(known.mailServers) },
    free: setOf(known.free),
    knownGood: setOf(known.knownGood),
    roles: setOf(known.roles),
    operator: operatorLists(known),
  };
}

function operatorLists(known: Known): OperatorLists {
  return {
    domain: getter(known.operator),
    mailHost: getter(known.operatorHosts),
    address: getter(known.operatorAddresses),
    trap: () => undefined,
  };
}

function getter<T>(entries: Readonly<Record<string, T>> = {}): (name: string) => T | undefined {
  const map = new Map(Object.entries(entries));
  return (name) => map.get(name);
}
