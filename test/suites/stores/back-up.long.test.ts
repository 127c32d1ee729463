import assert from "node:assert/strict";
import { copyFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { manualClock } from "../../time/manual-clock.ts";
import { Credits } from "../../../src/accounts/credits.ts";
import { openEmbedded } from "../../../src/store/database.ts";
import { type ForkedDnsServer, forkDnsServer } from "../../dns/dns-server.ts";
import type { ServedName } from "../../dns/dns-zone.ts";
import {
  gatepost,
  gatepostBeside,
  type Home,
  makeHome,
  type ServiceProcess,
  startService,
} from "../../e2e/service-process.ts";
import { until } from "../../time/until.ts";

const FAST = 500;
/** Names without an answer during the copy: a minute of work, so that the batch runs longer than the copy. */
const LATE = 8_000;
const CREDITS = 10_000;
const ANSWER_WITHIN_MS = 120_000;

/** Beyond 600 units a day Starter pays by credits here. */
const TIERS = JSON.stringify({ starter: { daily: 600, rate_per_minute: null } });

const NAMES = [
  ...Array.from({ length: FAST }, (_, at) => `f${String(at)}.example`),
  ...Array.from({ length: LATE }, (_, at) => `s${String(at)}.example`),
];

/** Whether the late names have answers. */
function zone(late: ServedName): Readonly<Record<string, ServedName>> {
  const names: Record<string, ServedName> = { "mx.example": { a: ["203.0.113.5"] } };
  for (const name of NAMES) {
    names[name] = { mx: ["10 mx.example"], ...(name.startsWith("s") ? late : {}) };
  }
  return names;
}

interface Account {
  readonly account_id: string;
  readonly api_key: string;
}

const key = ({ api_key }: Account) => ({ "x-api-key": api_key });

async function view(service: ServiceProcess, session: string, account: Account): Promise<string> {
  return (await service.get(`/api/view/${session}`, key(account))).body;
}

/** The account's finished list. */
const resultOf = (service: ServiceProcess, session: string, account: Account): Promise<string> =>
  until(
    async () => {
      const body = await view(service, session, account);
      return body.startsWith("{") ? undefined : body;
    },
    { what: "the list's end", withinMs: ANSWER_WITHIN_MS },
  );

/** Checked entries of its batch, by the database. */
async function checkedIn({ directory }: Home): Promise<number> {
  const { db, close } = await openEmbedded(directory, Date.now());
  const rows = await db
    .selectFrom("jobs")
    .select("processed")
    .where("is_running", "=", 1)
    .execute();
  await close();
  return Number(rows[0]?.processed ?? 0);
}

/** The balance and the sum of its ledger, which must be the same. */
async function balanceOf({ directory }: Home, { account_id }: Account): Promise<number> {
  const { db, close } = await openEmbedded(directory, Date.now());
  const row = await db
    .selectFrom("accounts")
    .select("credit_balance")
    .where("id", "=", account_id)
    .executeTakeFirstOrThrow();
  const entries = await new Credits(db, { clock: manualClock() }).entries(account_id, 1_000);
  await close();
  const sum = entries.reduce((total, { amount }) => total + amount, 0);
  assert.equal(Number(row.credit_balance), sum);
  return sum;
}

suite("a back-up made while the service works", () => {
  /** For the copied service and the restored ones. */
  let withheld: ForkedDnsServer;
  let answering: ForkedDnsServer;
  let first: Home;
  let payer: Account;
  let other: Account;
  let done: string;
  let running: string;
  let copy: string;
  const services: ServiceProcess[] = [];
  const homes: Home[] = [];

  const home = ({ port }: ForkedDnsServer): Home => {
    const made = makeHome({ GATEPOST_DNS_SERVERS: `127.0.0.1:${String(port)}` });
    writeFileSync(join(made.directory, "tiers.json"), TIERS);
    homes.push(made);
    const settings = {
      ...made.settings,
      GATEPOST_TIERS_FILE: join(made.directory, "tiers.json"),
    };
    return { ...made, settings };
  };

  const serve = async (from: Home): Promise<ServiceProcess> => {
    const started = await startService(from);
    services.push(started);
    return started;
  };

  /** A new data directory with the copy and the key, as docs/operations/back-up.md says. */
  const restore = (): Home => {
    const made = home(answering);
    copyFileSync(copy, join(made.directory, "gatepost.db"));
    copyFileSync(join(first.directory, "secret.key"), join(made.directory, "secret.key"));
    return made;
  };

  const account = (email: string): Account => {
    const ran = gatepost(first, ["account", "create", email, "--tier", "starter", "--json"]);
    assert.equal(ran.code, 0, ran.err);
    return JSON.parse(ran.out) as Account;
  };

  before(async () => {
    withheld = await forkDnsServer(zone({ behave: "silent" }));
    answering = await forkDnsServer(zone({}));
    first = home(withheld);
    payer = account("payer@gatepost.example");
    other = account("other@gatepost.example");
    gatepost(first, ["account", "credit", payer.account_id, String(CREDITS)]);
    copy = join(first.directory, "copy.db");

    const service = await serve(first);
    const small = await service.post(
      "/api/email",
      "bulk=1&email=f1.example,f2.example",
      key(other),
    );
    done = (JSON.parse(small.body) as { readonly session: string }).session;
    const list = await service.post("/api/email", `bulk=1&email=${NAMES.join(",")}`, key(payer));
    assert.equal(list.status, 200, list.body);
    running = (JSON.parse(list.body) as { readonly session: string }).session;

    let isOver = false;
    const load = async (): Promise<void> => {
      for (let at = 0; !isOver; at += 1) {
        const answer = await service.get(`/api/email/jo@f${String(at % FAST)}.example`, key(other));
        assert.ok(answer.status === 200 || answer.status === 429, answer.body);
      }
    };
    const loads = [load(), load()];
    const hasBegun = async (): Promise<boolean> => {
      const body = await view(service, running, payer);
      return /"processed_count":[1-9]/.test(body) || !body.startsWith("{");
    };
    await until(hasBegun, { what: "the first result", withinMs: ANSWER_WITHIN_MS });
    const said = await gatepostBeside(first, ["backup", copy, "--json"]);
    assert.deepEqual(JSON.parse(said), { file: copy, bytes: statSync(copy).size });
    isOver = true;
    await Promise.all(loads);
    const now = await view(service, running, payer);
    assert.ok(now.startsWith("{"), "the copy holds a running list");
    assert.equal(await service.stop("SIGKILL"), "SIGKILL");
  });

  after(async () => {
    for (const { child } of services) child.kill("SIGKILL");
    await Promise.all([withheld.close(), answering.close()]);
    for (const each of homes) each.remove();
  });

  test("restored unsettled: keys work, sessions are readable, the batch continues and is charged once", async () => {
    const moved = restore();
    assert.equal(await balanceOf(moved, payer), CREDITS - FAST - LATE);
    const service = await serve(moved);
    try {
      assert.equal(await view(service, done, other), "f1.example\nf2.example");
      const body = await resultOf(service, running, payer);
      assert.equal(body.split("\n").length, FAST + LATE);
      const check = await service.get("/api/email/jo@f3.example", key(payer));
      assert.equal(check.status, 200, "its plan's day is untouched: credits paid for the list");
    } finally {
      assert.equal(await service.stop(), 0);
    }
    assert.equal(await balanceOf(moved, payer), CREDITS - FAST - LATE);
  });

  test("restored after a disaster: the batch has failed, unchecked entries are refunded", async () => {
    const saved = restore();
    const checked = await checkedIn(saved);
    assert.ok(checked > 0 && checked < FAST + LATE);
    const ran = gatepost(saved, ["migrate", "--restored"]);
    assert.equal(ran.code, 0, ran.err);
    assert.match(ran.out, /lists 1, webhooks 0, sign-ins 0/);
    assert.equal(await balanceOf(saved, payer), CREDITS - checked);
    const service = await serve(saved);
    try {
      assert.match(await view(service, running, payer), /"status":"failed"/);
      assert.equal(await view(service, done, other), "f1.example\nf2.example");
      const again = await service.post("/api/email", "bulk=1&email=f1.example", key(payer));
      assert.equal(again.status, 200, "the slot is free");
    } finally {
      assert.equal(await service.stop(), 0);
    }
  });

  test("a database that is being served is not settled as restored", async () => {
    const served = restore();
    const service = await serve(served);
    try {
      const ran = gatepost(served, ["migrate", "--restored"]);
      assert.equal(ran.code, 3);
      assert.match(ran.err, /another gatepost serves it/);
    } finally {
      await service.stop();
    }
  });
});
