import { parseDomain } from "../../core/name/domain.ts";
import type { Resolver } from "../resolver.ts";
import { A, MX, NS, type RecordKind } from "../message/records.ts";
import type { Reply } from "../message/reply.ts";

/** What a server says to one question. `silent`: no answer, or none that can be read. */
export type Word = "found" | "noName" | "noData" | "servfail" | "refused" | "silent";

/** Asks for a name that must exist. */
export type Canary = (resolver: Resolver) => Promise<Word>;

/** Names that cannot be absent from the public DNS. */
const BUILT_IN_MX = ["gmail.com", "outlook.com", "yahoo.com", "icloud.com", "qq.com"];

export function builtInCanaries(): readonly Canary[] {
  const zones = ["", "com"].map(
    (name): Canary =>
      (resolver) =>
        ask(resolver, name, NS),
  );
  return [...zones, ...BUILT_IN_MX.map(mailCanary)];
}

/** The operator's names: each must have a mail server or an address. */
export function namedCanaries(names: readonly string[]): readonly Canary[] {
  return names.map((name) => async (resolver) => {
    const word = await ask(resolver, name, MX);
    return word === "found" || word === "silent" ? word : ask(resolver, name, A);
  });
}

/** `GATEPOST_DNS_CANARIES`: none for "off". Throws an `Error` that names a piece that is not a domain name. */
export function parseCanaries(text: string): readonly string[] {
  if (text.trim().toLowerCase() === "off") return [];
  return text.split(",").map((piece) => {
    const domain = parseDomain(piece.trim());
    if (!domain.ok) throw new Error(`"${piece}" is not a domain name`);
    return domain.value.name;
  });
}

export const mailCanary =
  (name: string): Canary =>
  (resolver) =>
    ask(resolver, name, MX);

export function ask<T>(resolver: Resolver, name: string, kind: RecordKind<T>): Promise<Word> {
  return new Promise((resolve) =>
    resolver.ask({ name, kind }, (reply: Reply<T>) => resolve(wordOf(reply))),
  );
}

function wordOf(reply: Reply<unknown>): Word {
  if (reply.kind === "found" || reply.kind === "alias") return "found";
  if (reply.kind === "absent") return reply.why;
  return reply.why === "servfail" || reply.why === "refused" ? reply.why : "silent";
}

/** Names that cannot exist: random labels alone, under `.com` and under `.invalid`. */
export function inventedNames(random: (count: number) => Uint8Array): readonly string[] {
  const label = (): string =>
    `gp${Buffer.from(random(10))
      .toString("hex")
      .replaceAll(/\d/g, (digit) => "ghijklmnop"[Number(digit)] ?? "x")}`;
  return [`${label()}.com`, `${label()}.invalid`, label()];
}
