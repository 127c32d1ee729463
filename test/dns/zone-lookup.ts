import type { Answer, Lookup, MailExchange, Registration } from "../../src/core/mail/lookup.ts";

/** The answers for one name. `unknown` makes every type inconclusive; a list makes only those types so. */
export interface ZoneName {
  /** "10 mx.example" or "0 ." */
  readonly mx?: readonly string[];
  readonly a?: readonly string[];
  readonly aaaa?: readonly string[];
  readonly txt?: readonly string[];
  /** The registration day in the registry. */
  readonly registered?: string;
  readonly unknown?: true | readonly ("mx" | "addresses" | "txt" | "registration")[];
}

export type Zone = Readonly<Record<string, ZoneName>>;

export interface ZoneLookup extends Lookup {
  /** "mx example.com", in the order asked. */
  readonly asked: readonly string[];
  readonly everyAddress: Lookup["addresses"];
}

/** DNS and a registry from a literal: names that are not in it do not exist. */
export function zoneLookup(zone: Zone): ZoneLookup {
  const asked: string[] = [];
  const names = new Map(Object.entries(zone));
  const answer = <T>(
    type: "mx" | "addresses" | "txt" | "registration",
    name: string,
    read: (entry: ZoneName) => readonly T[],
  ): Promise<Answer<T>> => {
    asked.push(`${type} ${name}`);
    const entry = names.get(name);
    if (entry === undefined) return Promise.resolve({ kind: "absent", why: "noName" });
    if (entry.unknown === true || entry.unknown?.includes(type) === true) {
      return Promise.resolve({ kind: "unknown", why: "timeout" });
    }
    const records = read(entry);
    return Promise.resolve(
      records.length === 0 ? { kind: "absent", why: "noData" } : { kind: "found", records },
    );
  };
  const addresses: Lookup["addresses"] = (name) =>
    answer("addresses", name, ({ a = [], aaaa = [] }) => [...a, ...aaaa]);
  return {
    asked,
    addresses,
    everyAddress: addresses,
    mx: (name) => answer("mx", name, ({ mx = [] }) => mx.map(exchange)),
    txt: (name) => answer("txt", name, ({ txt = [] }) => txt),
    registration: (name) => answer("registration", name, registration),
  };
}

function exchange(text: string): MailExchange {
  const [preference = "", host = ""] = text.split(" ");
  return { preference: Number(preference), host: host.replace(/\.$/, "") };
}

function registration({ registered }: ZoneName): readonly Registration[] {
  return registered === undefined ? [] : [{ registeredAtMs: Date.parse(registered) }];
}

/** Cases as text: a line "name -> want", then the case's indented lines. */
export const cases = (text: string) =>
  text
    .slice(1, -1)
    .split(/\n(?! )/)
    .map((part) => {
      const [head = "", ...lines] = part.split("\n");
      const [name = "", want = ""] = head.split(" -> ");
      return { name, want, lines: lines.map((line) => line.slice(2)) };
    });

/** Cases whose lines are a zone: "a.example txt v=spf1 -all", or "a.example unknown" for every type. */
export const zones = (text: string) =>
  cases(text).map(({ lines, ...one }) => {
    const zone: Record<string, Record<string, string[] | true>> = {};
    for (const line of lines) {
      const [, name = "", type = "", value = ""] = /^(\S+) (\S+) ?(.*)$/.exec(line) ?? [];
      const entry = (zone[name] ??= {});
      if (type === "unknown" && value === "") entry[type] = true;
      else entry[type] = [...((entry[type] as string[] | undefined) ?? []), value];
    }
    return { ...one, zone: zone as Zone };
  });
