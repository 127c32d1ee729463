import assert from "node:assert/strict";
import { test } from "node:test";
import { literalDatasets, type LiteralKnowledge } from "./literal-datasets.ts";
import { domainEvidence, weigh } from "../../src/core/evidence/domain-evidence.ts";
import { parseDomain } from "../../src/core/name/domain.ts";
import type { MailHosts } from "../../src/core/mail/mail-hosts.ts";

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

const pairs = (text: string) => Object.fromEntries(text.split(",").map((pair) => pair.split(":")));

/** "a.example mx=h1,h2 curated=b.example domains=c.example:deny": a domain, its mail hosts, and what is known. */
function read(text: string): Omit<Case, "want" | "name"> {
  const [domain = "", ...words] = text.split(/\s+/);
  const fields = words.map(
    (word) => [word.split("=")[0] ?? "", word.replace(/^\w+=/, "")] as const,
  );
  const mx = fields.find(([name]) => name === "mx")?.[1];
  const known = fields
    .filter(([name]) => name !== "mx")
    .map(([name, value]) => [name, value.includes(":") ? pairs(value) : value.split(",")]);
  return {
    domain,
    known: Object.fromEntries(known),
    ...(mx !== undefined && { mx: mx === "unknown" ? mx : mx.split(",") }),
  };
}

/**
 * Cases as text: a line with the name, then, indented, what is given and "->" with the evidence: "signal weight subject",
 * strongest first, parted by "|", or "nothing".
 */
export function table(title: string, text: string): void {
  for (const part of text.trim().split(/\n(?! )/)) {
    const [name = "", ...lines] = part.split("\n");
    const [given = "", want = ""] = lines
      .join(" ")
      .trim()
      .split(/\s+-> /);
    test(`${title}: ${name}`, () => {
      assert.deepEqual(shown(read(given)), want === "nothing" ? [] : want.split(" | "));
    });
  }
}
