// A database that an older version made, brought to this version: nothing in it is lost, and all of it goes on.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after } from "node:test";
import { Browser } from "../dashboard/dashboard-client.ts";
import { forkDnsServer } from "../dns/dns-server.ts";
import type { ServedZone } from "../dns/dns-zone.ts";
import {
  gatepost,
  type Home,
  makeHome,
  type ServiceProcess,
  startService,
} from "../e2e/service-process.ts";
import { testWith } from "../process/require-tool.ts";
import { postgresPrograms, type PostgresServer, startPostgres } from "../services/postgres.ts";
import { until } from "../time/until.ts";
import {
  allRows,
  type Engine,
  oldFacts,
  putOldDatabase,
  rawEmbedded,
  rawPostgres,
  OLD_KEY,
  type Version,
} from "./old-database.ts";

const PASSWORD = "correct horse battery staple";

const ZONE: ServedZone = {
  "good.example": { mx: ["10 mx1.mail.example"] },
  "shop5.example": { mx: ["10 mx1.mail.example"] },
  "shop7.example": { mx: ["10 mx1.mail.example"] },
  "shop9.example": { mx: ["10 mx1.mail.example"] },
  "mx1.mail.example": { a: ["192.0.2.25"] },
};

let postgres: PostgresServer | undefined;
after(() => postgres?.close());

/** A home whose database is empty or will be an old one. */
async function homeOf(engine: Engine): Promise<Home> {
  const dns = await forkDnsServer(ZONE);
  after(() => dns.close());
  const settings = {
    GATEPOST_SECRET_KEY: OLD_KEY,
    GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}`,
    GATEPOST_DNS_CANARIES: "off",
  };
  if (engine === "embedded") return makeHome(settings);
  postgres ??= await startPostgres();
  return makeHome({ ...settings, DATABASE_URL: await postgres.createDatabase() });
}

const placeOf = ({ directory, settings }: Home): string => settings["DATABASE_URL"] ?? directory;

const rawOf = (engine: Engine, home: Home) =>
  engine === "embedded" ? rawEmbedded(placeOf(home)) : rawPostgres(placeOf(home));

async function shapeOf(engine: Engine, home: Home): Promise<readonly string[]> {
  const raw = await rawOf(engine, home);
  const shape = await raw.shape();
  await raw.close();
  return shape;
}

/** The counter without an owner says that all are whole; a migration adds it anew. */
const isOld = (row: string): boolean => !row.includes('"owner":""');

const STEPS: Readonly<Record<Version, number>> = { "0.2.0": 1, "0.3.0": 8 };

async function keepsAllRows(version: Version, engine: Engine): Promise<Home> {
  const home = await homeOf(engine);
  await putOldDatabase(engine, placeOf(home), version);
  const raw = await rawOf(engine, home);
  const tables = await raw.tables();
  const before = await allRows(raw, tables);
  await raw.close();
  assert.match(gatepost(home, ["account", "list"]).err, /run gatepost migrate/);
  const ran = gatepost(home, ["migrate"]);
  assert.equal(ran.code, 0, ran.err);
  assert.match(ran.err, /database\.step_done \S+ \d+\n/);
  const copy = `gatepost.schema-${String(STEPS[version])}.db`;
  if (engine === "embedded") assert.ok(ran.err.includes(copy), ran.err);
  const again = await rawOf(engine, home);
  const now = await allRows(again, tables);
  await again.close();
  assert.ok(tables.size > 30, String(tables.size));
  for (const [table, rows] of before) {
    if (table === "schema_migrations") assert.deepEqual(now.get(table)?.[0], rows[0]);
    else assert.deepEqual(now.get(table)?.filter(isOld), rows.filter(isOld), table);
  }
  return home;
}

async function hasSchemaOfNew(engine: Engine, upgraded: Home): Promise<void> {
  const fresh = await homeOf(engine);
  assert.equal(gatepost(fresh, ["migrate"]).code, 0);
  assert.deepEqual(await shapeOf(engine, upgraded), await shapeOf(engine, fresh));
  fresh.remove();
}

const JSON_TYPE = { "content-type": "application/json" };

async function goesOn(version: Version, engine: Engine, home: Home): Promise<void> {
  const facts = oldFacts(version, engine);
  const service = await startService(home);
  try {
    const auth = { "x-api-key": facts.ada.api_key };
    const decide = async (body: object, headers: Readonly<Record<string, string>> = auth) => {
      const all = { ...JSON_TYPE, ...headers };
      const answer = await service.post("/api/decide", JSON.stringify(body), all);
      return { status: answer.status, ...(JSON.parse(answer.body) as Decided) };
    };
    // The counters of 0.2.0 look as after a crash of PostgreSQL: the first second decides without them.
    const off = { "x-api-key": facts.off.api_key };
    await until(async () => (await decide({ email: "a@shop5.example" }, off)).status === 403);
    const browser = new Browser(service);
    browser.cookie = facts.cookie;
    const idsOf = (text: string): readonly string[] =>
      (JSON.parse(text) as { keys: { id: string }[] }).keys.map(({ id }) => id);
    assert.deepEqual(idsOf((await browser.get("keys")).text), idsOf(facts.keysSeen));
    if (facts.list !== undefined) await listGoesOn(browser, facts.list);
    const signIn = await new Browser(service).signIn("ada@shop.example", PASSWORD);
    assert.ok(signIn.status < 300, signIn.text);

    for (const made of [facts.second, facts.free]) {
      assert.equal(
        (await decide({ email: "a@shop5.example" }, { "x-api-key": made.api_key })).status,
        200,
      );
    }
    const revoked = { "x-api-key": facts.revoked.api_key };
    assert.equal((await decide({ email: "a@shop5.example" }, revoked)).status, 401);
    const page = { "x-api-key": facts.page.api_key, origin: "https://shop.example" };
    assert.equal((await decide({ email: "a@shop5.example" }, page)).policy?.name, "checkout");

    await decidesAsBefore(version, facts, decide);
    if (version === "0.2.0") assert.match(service.log(), /policies\.parts_ignored/);
    else await keepsWhatIsNew(decide, home);
    assert.equal((await decide({ email: "jo@x.bad.example" })).decision, "reject");

    const { token = "" } = await decide({ email: "a@shop5.example", token: true });
    const { token_secret: secret } = JSON.parse(facts.tokenSecret) as { token_secret: string };
    const [head = "", body = "", signature] = token.split(".");
    const signed = createHmac("sha256", secret).update(`${head}.${body}`).digest("base64url");
    assert.equal(signature, signed);

    const own = { ...home.settings, PORT: new URL(service.url).port };
    const here = { ...home, settings: { ...own, GATEPOST_PUBLIC_URL: service.url } };
    for (const { id } of Object.values(facts.hooks)) {
      const ran = gatepost(here, ["hook", "test", id, "--json"]);
      assert.equal(ran.code, 0, ran.err);
    }
    assert.equal(gatepost(home, ["webhook", "log", "ada@shop.example"]).code, 0);

    await batchesGoOn(version, engine, home, service);
  } finally {
    await service.stop();
  }
}

async function decidesAsBefore(
  version: Version,
  { decisions }: Pick<ReturnType<typeof oldFacts>, "decisions">,
  decide: (body: object) => Promise<Decided>,
): Promise<void> {
  for (const { email, decision, reason, mailbox } of decisions) {
    // The changelog of 0.3.0 says that its mailbox is another one.
    if (version === "0.2.0" && email.startsWith('"')) continue;
    const now = await decide({ email });
    const today = reason === "constructor" ? "denied" : reason;
    assert.deepEqual([now.decision, now.reason], [decision, today], email);
    assert.equal(now.mailbox?.id, mailbox.id, email);
    assert.ok((now.mailbox?.seen ?? 0) > 0, email);
  }
}

async function batchesGoOn(
  version: Version,
  engine: Engine,
  home: Home,
  service: ServiceProcess,
): Promise<void> {
  const facts = oldFacts(version, engine);
  const auth = { "x-api-key": facts.ada.api_key };
  const view = `/api/view/${facts.bulk.session}`;
  assert.equal((await service.get(`${view}/json`, auth)).body, facts.view);
  assert.equal((await service.get(`${view}/csv`, auth)).body, facts.csv);
  const worker =
    engine === "embedded" ? undefined : await startService(home, {}, { command: "worker" });
  await until(async () => {
    const { body } = await service.get(`/api/view/${facts.open.session}`, auth);
    return !body.includes('"pending"');
  });
  await worker?.stop();
}

/** The keyed hashes of messages and reports, and numbers of its own: they came with 0.3.0. */
async function keepsWhatIsNew(
  decide: (body: object) => Promise<Decided>,
  home: Home,
): Promise<void> {
  const sent = await decide({ email: "sent@shop7.example", for: "send" });
  assert.deepEqual([sent.decision, sent.reason], ["reject", "too_often"]);
  const reported = await decide({ email: "n2@shop9.example" });
  assert.deepEqual([reported.decision, reported.reason], ["review", "abuse"]);
  const limits = gatepost(home, ["account", "limits", "jo@free.example", "--json"]).out;
  assert.match(limits, /"rate_per_minute":1000/);
}

async function listGoesOn(
  browser: Browser,
  { id, rows, csv }: NonNullable<ReturnType<typeof oldFacts>["list"]>,
): Promise<void> {
  type Rows = { rows: { entry: string; class: string }[] };
  const shown = (text: string): readonly string[] =>
    (JSON.parse(text) as Rows).rows.map((row) => `${row.entry} ${row.class}`);
  assert.deepEqual(shown((await browser.get(`lists/${id}/rows`)).text), shown(rows));
  // 0.3.0 ended each line with CR LF; today they end as in the person's file.
  const good = (await browser.get(`lists/${id}/csv?classes=good`)).text;
  assert.equal(good, csv.replaceAll("\r\n", "\n"));
}

interface Decided {
  readonly decision?: string;
  readonly reason?: string;
  readonly token?: string;
  readonly policy?: { readonly name: string };
  readonly mailbox?: { readonly id: string; readonly seen: number };
}

for (const version of ["0.2.0", "0.3.0"] as const) {
  for (const engine of ["embedded", "postgres"] as const) {
    const missing = engine === "postgres" && postgresPrograms() === undefined ? ["postgresql"] : [];
    const name = `a database of ${version} is upgraded: ${engine}`;
    testWith(["postgresql"], missing, name, async (t) => {
      const home = await keepsAllRows(version, engine);
      await t.test("it has the schema of a new one", () => hasSchemaOfNew(engine, home));
      await t.test("all that it holds goes on", () => goesOn(version, engine, home));
      home.remove();
    });
  }
}
