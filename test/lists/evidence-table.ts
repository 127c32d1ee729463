import assert from "node:assert/strict";
import { test } from "node:test";
import { type LiteralKnowledge, literalDatasets } from "./literal-datasets.ts";
import { domainEvidence } from "../../src/core/evidence/domain-evidence.ts";
import { parseDomain } from "../../src/core/name/domain.ts";
import type { MailHosts } from "../../src/core/mail/mail-hosts.ts";
import { weigh } from "../../src/core/evidence/verdict.ts";

interface Case {
  readonly name: string;
  readonly domain: string;
  /** A server that nobody knows unless given. */
  readonly mx?: readonly string[] | "unknown";
  readonly known?: LiteralKnowledge;
  /** "signal weight subject", strongest first. */
  readonly want: readonly string[];
}

const mailAt = (hosts: readonly string[] | "unknown" = ["mx.nobody.example"]): MailHosts =>
  hosts === "unknown" ? { kind: "unknown" } : { kind: "hosts", hosts, implicit: false };

export function evidenceOf({ domain, mx, known }: Omit<Case, "want" | "name">) {
  const parsed = parseDomain(domain);
  assert.ok(parsed.ok, `${domain} is a domain`);
  return domainEvidence(parsed.value, mailAt(mx), literalDatasets(known));
}

export const shown = (test: Omit<Case, "want" | "name">): readonly string[] =>
  weigh(evidenceOf(test)).evidence.map(
    ({ signal, weight, subject = "" }) => `${signal} ${String(weight)} ${subject}`,
  );

export function table(title: string, cases: readonly Case[]): void {
  for (const row of cases) {
    test(`${title}: ${row.name}`, () => assert.deepEqual(shown(row), row.want));
  }
}

export const THROWN = { curated: ["thrown.example"] };
