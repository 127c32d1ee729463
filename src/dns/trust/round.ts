import { A, MX } from "../message/records.ts";
import type { Resolver } from "../resolver.ts";
import { ask, type Canary, inventedNames, type Word } from "./canaries.ts";

/** What a server that cannot be trusted does, as it stands in logs and messages. */
export const SUSPECT_REASONS = {
  denies: "denies names that exist (NXDOMAIN for every name)",
  empty: "has no records for names that exist (an empty answer for every name)",
  wildcard: "answers every name with addresses, as a captive portal does",
  servfail: "answers SERVFAIL to every question",
  refused: "refuses every question (REFUSED); its access list may not allow this machine",
} as const;

export type SuspectReason = keyof typeof SUSPECT_REASONS;

/**
 * What one round of questions shows. `good`: a name that must exist was found. `bad`: none was, and all answers agree.
 * `open`: nothing can be concluded, because too little was answered or the answers differ from name to name.
 */
export type Round =
  { readonly kind: "good" | "open" } | { readonly kind: "bad"; readonly reason: SuspectReason };

const OPEN: Round = { kind: "open" };

export interface RoundDeps {
  readonly resolver: Resolver;
  readonly random: (count: number) => Uint8Array;
  readonly canaries: readonly Canary[];
}

/** Asks for all canaries and, when none is found, for names that cannot exist. */
export async function askRound({ resolver, random, canaries }: RoundDeps): Promise<Round> {
  const words = await Promise.all(canaries.map((canary) => canary(resolver)));
  if (words.includes("found")) return { kind: "good" };
  const told = words.filter((word) => word !== "silent");
  // A path that loses half of its packets must not decide by the other half.
  if (told.length === 0 || told.length * 2 < words.length) return OPEN;
  const reason = reasonOf(told);
  if (reason !== "denies" && reason !== "empty") {
    return reason === undefined ? OPEN : { kind: "bad", reason };
  }
  const invented = inventedNames(random);
  const found = await Promise.all(invented.map((name) => ask(resolver, name, A)));
  if (!found.includes("found")) return { kind: "bad", reason };
  // A server with mail servers for every name is a test server: its answers are never "no".
  const mail = await Promise.all(invented.map((name) => ask(resolver, name, MX)));
  return mail.includes("found") ? OPEN : { kind: "bad", reason: "wildcard" };
}

/** Undefined when the answers differ: a server that tells names apart knows some of them. */
function reasonOf(words: readonly Word[]): SuspectReason | undefined {
  if (words.every((word) => word === "noName" || word === "noData")) {
    return words.includes("noName") ? "denies" : "empty";
  }
  if (words.every((word) => word === "servfail")) return "servfail";
  return words.every((word) => word === "refused") ? "refused" : undefined;
}
