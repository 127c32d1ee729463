import { oneOf, orNull, type Described, Type } from "../../core/json-schema.ts";
import { KEY } from "../../accounts/key-json.ts";
import { OwnEntry, Source } from "../../lists/rules/entry-json.ts";
import { ACCOUNT, Allowance, count, flag, text, time, UsageDay } from "./shapes.ts";

export type { OwnEntry, Source };

export const ResetLink = Type.Object({
  link: Type.String({ description: "Works once." }),
  expires_at: time,
});

export const DnsTest = Type.Object({
  resolvers: Type.Array(
    Type.Object({
      server: text,
      median_ms: orNull(count, "Half of its answers came within; null: it does not answer."),
      tcp: orNull(flag, "It answers over TCP; null: it answers nothing."),
      truthful: orNull(flag, "It finds names that exist and invents none; null: not tested."),
      says: Type.String({ description: "What is wrong and what to do; empty for nothing." }),
    }),
  ),
});
export type DnsTest = Described<typeof DnsTest>;

export const Promoted = Type.Object({ password: text });

const AdminAccount = Type.Object({ ...ACCOUNT, credits: count, disabled: flag, origin: text });
export type AdminAccount = Described<typeof AdminAccount>;
export const AdminAccounts = Type.Object({
  accounts: Type.Array(AdminAccount, { description: "One page, by e-mail address." }),
  total: count,
  page: count,
  page_size: count,
});
export type AdminAccounts = Described<typeof AdminAccounts>;
export const AdminAccountPage = Type.Object({
  account: AdminAccount,
  days: Type.Array(UsageDay),
  latency_edges_ms: Type.Array(count),
  allowance: Allowance,
  keys: Type.Array(Type.Object(KEY)),
});
export type AdminAccountPage = Described<typeof AdminAccountPage>;

export const Cockpit = Type.Object({
  verdicts: Type.Object(
    { good: count, disposable: count, no_mail: count, no_answer: count },
    { description: "By domain, each check in one class." },
  ),
  held_back: Type.Array(
    Type.Object({ resource: text, refused: count, waiting: count, owners: count }),
    { description: "Resources of which owners wanted more than their share since the start." },
  ),
  days: Type.Array(UsageDay),
  latency_edges_ms: Type.Array(count),
  top: Type.Array(
    Type.Object({
      name: orNull(text, "Null: an address without a key, or a deleted account."),
      units: count,
      requests: count,
    }),
  ),
});
export type Cockpit = Described<typeof Cockpit>;

export const SystemState = Type.Object({
  version: text,
  node: text,
  started_at: time,
  probes: Type.Array(Type.Object({ name: text, ok: flag })),
  last_backup: Type.Optional(
    orNull(time, "Of the embedded database; null: none is known. Absent with PostgreSQL."),
  ),
  disk: orNull(
    Type.Object({ free: count, size: count }),
    "Octets where the embedded database is; null with PostgreSQL.",
  ),
  queue: Type.Object({ lists: count, waiting: count }, { description: "Lists and their entries." }),
  warnings: Type.Array(text, { description: "Sentences: what is wrong and what to do." }),
  facts: Type.Array(Type.Object({ name: text, value: text }), {
    description: "For people: queue, DNS servers, stores.",
  }),
});
export type SystemState = Described<typeof SystemState>;

export const Sources = Type.Object({ sources: Type.Array(Source) });

const Outcome = Type.Object({
  id: text,
  kind: oneOf(["accepted", "unchanged", "refused"], "What came of the fetch."),
  why: orNull(text),
  detail: orNull(text),
});
export type Outcome = Described<typeof Outcome>;
export const Outcomes = Type.Object({ outcomes: Type.Array(Outcome) });

export const FoundEntries = Type.Object({
  entries: Type.Array(OwnEntry),
  total: Type.Integer({ minimum: 0, description: "How many match; the first are sent." }),
});
export type FoundEntries = Described<typeof FoundEntries>;
export const Forgotten = Type.Object({ forgotten: count });
export const Imported = Type.Object({ imported: count });
