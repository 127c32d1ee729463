import { UsageLedger } from "../../../src/accounts/admission/usage.ts";
import { Outcomes } from "../../../src/gate/outcomes.ts";
import type { AccountStore } from "../../../src/main/store.ts";
import { replaceFact } from "../../../src/store/installation.ts";
import { Browser } from "../../dashboard/dashboard-client.ts";
import { startDnsServer } from "../../dns/dns-server.ts";
import { openTestStore } from "../../process/test-process.ts";
import { makeHome, type ServiceProcess, type Settings, startService } from "../service-process.ts";

export type Who = "visitor" | "own" | "fresh" | "admin";

/** A service with everything that pages show: days of use, decisions, keys, rules, hooks, a shadow. */
export interface ShownService {
  readonly service: ServiceProcess;
  readonly settings: Settings;
  readonly ids: Readonly<Record<Exclude<Who, "visitor">, string>>;
  /** "name=value" of a sign-in; undefined for a visitor. */
  cookieOf(who: Who): string | undefined;
  close(): Promise<void>;
}

export const PASSWORD = "correct horse battery";

const MAIL = { mx: ["10 mx.mail.example"] };

/** Names whose verdicts are shown. */
const SHOWN_ZONE = {
  "mx.mail.example": { a: ["192.0.2.25"] },
  ...Object.fromEntries(
    ["gmail.com", "iana.org", "mailinator.com", "good.example", "other.example"].map((name) => [
      name,
      MAIL,
    ]),
  ),
  "silent.example": { behave: "servfail" },
} as const;

const DAYS = 90;

/** Made on the real store before the service opens it. */
async function seed(store: AccountStore): Promise<ShownService["ids"]> {
  const make = async (email: string, tier: "pro" | "free", isAdmin: boolean): Promise<string> => {
    const order = { email, tier, origin: "operator", isAdmin, password: PASSWORD } as const;
    const made = await store.accounts.create(order);
    if (made.kind !== "created") throw new Error(`${email}: ${made.kind}`);
    return made.account.id;
  };
  const own = await make("mark@company.example", "pro", false);
  const fresh = await make("fresh@shop.example", "free", false);
  const admin = await make("ops@company.example", "pro", true);
  await replaceFact(store.sql.db, "signup", "open");
  await store.keys.create(own, "Website sign-up");
  await store.credits.grant(own, 500, "Welcome");
  await count(store, own);
  return { own, fresh, admin };
}

async function count({ sql: { db } }: AccountStore, id: string): Promise<void> {
  const today = Math.floor(Date.now() / 86_400_000);
  const days = Array.from({ length: DAYS }, (_, at) => today - at);
  await new UsageLedger(db).add(
    days.map((day, at) => ({
      owner: `account:${id}` as const,
      day,
      units: 1_000 + at * 30,
      requests: 400 + at * 10,
      refusals: at % 7,
    })),
  );
  const kinds = [
    ["accept", "ok", 900],
    ["challenge", "typo", 12],
    ["reject", "disposable", 70],
  ] as const;
  const about = { account_id: id, key_id: "", form: "sign-up" };
  const outcomes = days.flatMap((day) =>
    kinds.map(([decision, reason, times]) => ({ ...about, day, decision, reason, count: times })),
  );
  const pair = {
    account_id: id,
    policy: "default",
    version: 2,
    live: "accept",
    day: today,
    domain: "",
  } as const;
  const pairs = [
    { ...pair, shadow: "accept", count: 900 },
    { ...pair, shadow: "review", count: 9 },
  ] as const;
  const domains = [{ ...pair, shadow: "review", count: 9, domain: "other.example" }] as const;
  await new Outcomes(db).add({ outcomes, pairs, domains });
}

const SHADOW = {
  rules: [
    { when: { disposable: true, confidence: { gte: 80 } }, then: "reject" },
    { when: { typo: true }, then: "challenge" },
    { when: { role: true }, then: "review" },
  ],
  else: "accept",
};

/** What people made by the service's own routes. */
async function act(own: Browser, admin: Browser): Promise<void> {
  const calls = [
    own.post("policies/default/shadow", { document: SHADOW }),
    own.post("hooks", { system: "supabase" }),
    own.post("keys", { name: "Shop widget", origins: ["https://shop.example"] }),
    admin.post("admin/lists/entries", { entry: "good.example", kind: "allow", note: "Sales" }),
    admin.post("admin/lists/entries", { entry: "jo@bad.example", kind: "deny", note: "" }),
  ];
  for (const { status, text } of await Promise.all(calls)) {
    if (status >= 300) throw new Error(`${String(status)} ${text}`);
  }
}

/** `more` is made on the store, too. */
export async function openShownService(
  more: (store: AccountStore, ids: ShownService["ids"]) => Promise<void> = () => Promise.resolve(),
): Promise<ShownService> {
  const dns = await startDnsServer(SHOWN_ZONE);
  const home = makeHome({
    GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}`,
    GATEPOST_DNS_CANARIES: "off",
  });
  const store = await openTestStore(home.directory);
  const ids = await seed(store);
  await more(store, ids);
  await store.close();
  const service = await startService(home);
  const signIn = async (email: string): Promise<Browser> => {
    const browser = new Browser(service);
    const { status, text } = await browser.signIn(email, PASSWORD);
    if (status !== 204) throw new Error(`${email}: ${text}`);
    return browser;
  };
  const own = await signIn("mark@company.example");
  const fresh = await signIn("fresh@shop.example");
  const admin = await signIn("ops@company.example");
  await act(own, admin);
  const browsers = { own, fresh, admin };
  return {
    service,
    settings: home.settings,
    ids,
    cookieOf: (who) => (who === "visitor" ? undefined : browsers[who].cookie),
    async close() {
      await service.stop();
      await dns.close();
      home.remove();
    },
  };
}
