import assert from "node:assert/strict";
import { CLIENT_CASES, type DecideCase, type Said } from "./cases.ts";

/** What a client library printed about the table, in its order. */
export interface Seen {
  /** Who decided three times, over one TLS connection. */
  readonly tls: readonly string[];
  readonly decide: Readonly<Record<string, SeenDecision>>;
  readonly may_send: Readonly<Record<string, readonly Omit<Said, "with">[]>>;
  /** By the name of the case: null for what was stored, else the fault. */
  readonly feedback: Readonly<Record<string, SeenDecision["fault"]>>;
  /** "ok", or why a token is not good. */
  /** By the name of the case: the ids of the rows, or the fault. */
  readonly mailboxes: Readonly<Record<string, SeenMailboxes>>;
  readonly tokens: readonly string[];
  readonly webhooks: readonly boolean[];
}

interface SeenDecision {
  readonly token: boolean;
  readonly fault: { readonly kind: string; readonly status: number | null } | null;
  readonly [field: string]: unknown;
}

const { decide, may_send: mayEach, feedback, tokens, webhooks } = CLIENT_CASES;

/** Of all cases; `decisions` may come from several programs. */
export function assertAsTheTableSays(seen: Seen): void {
  assert.deepEqual(seen.tls, ["service", "service", "service"]);
  const wrong = decide.flatMap((each) => differences(each, seen.decide[each.name]));
  assert.deepEqual(wrong, []);
  const mayWant = Object.fromEntries(
    mayEach.map(({ name, says }) => [
      name,
      says.map(({ send, ask, reason }) => ({ send, ask, reason })),
    ]),
  );
  assert.deepEqual(seen.may_send, mayWant);
  assert.deepEqual(feedbackFaults(seen.feedback), []);
  assertMailboxes(seen.mailboxes);
  assert.deepEqual(
    seen.tokens,
    tokens.cases.map(({ fault }) => fault ?? "ok"),
  );
  assert.deepEqual(
    seen.webhooks,
    webhooks.map(({ valid }) => valid),
  );
}

function differences({ name, expect }: DecideCase, found?: SeenDecision): readonly string[] {
  if (found === undefined) return [`${name}: not run`];
  const { fault: _, ...fields } = expect;
  const wrong = Object.entries(fields).filter(([field, value]) => found[field] !== value);
  if (wrong.length === 0 && hasItsFault(expect, found)) return [];
  return [`${name}: ${JSON.stringify(expect)}, not ${JSON.stringify(found)}`];
}

function hasItsFault({ fault, source }: DecideCase["expect"], found: SeenDecision): boolean {
  if (fault === undefined) return source === "away" || found.fault === null;
  const { kind = "", status } = found.fault ?? {};
  return fault.kind.includes(kind) && (fault.status === undefined || fault.status === status);
}

export type SeenMailboxes =
  readonly (string | null)[] | { readonly kind: string; readonly status: number | null };

/** Ids are compared among themselves: each distinct one is a letter. */
export function assertMailboxes(seen: Seen["mailboxes"]): void {
  for (const { name, emails, times = 1, ids: want, fault } of CLIENT_CASES.mailboxes) {
    const found = seen[name];
    if (!Array.isArray(found)) {
      const { kind, status } = found as { kind: string; status: number | null };
      assert.deepEqual([fault?.kind.includes(kind), status], [true, fault?.status ?? null], name);
      continue;
    }
    const ids = found as readonly (string | null)[];
    assert.equal(ids.length, emails.length * times, name);
    const known = [...new Set(ids.filter((id) => id !== null))];
    const letters = ids.map((id) => (id === null ? null : "abc".charAt(known.indexOf(id))));
    assert.deepEqual(letters.slice(0, emails.length), want, name);
    assert.ok(
      known.every((id) => /^m_[A-Z2-7]{26}$/.test(id)),
      name,
    );
  }
}

/** Cases of `feedback` that ended otherwise. */
export const feedbackFaults = (seen: Seen["feedback"]): readonly string[] =>
  feedback.flatMap(({ name, fault }) => {
    const found = seen[name];
    const isFine =
      fault === undefined
        ? found === null
        : fault.kind.includes(found?.kind ?? "") && (fault.status ?? null) === found?.status;
    return isFine ? [] : [`${name}: ${JSON.stringify(found)}`];
  });
