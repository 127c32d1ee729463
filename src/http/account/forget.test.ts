import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { EMAIL, worldFor, ZONE } from "../../../test/dashboard/account-world.ts";
import { PASSWORD } from "../../../test/dashboard/dashboard-world.ts";
import { parseAddress } from "../../core/address/address.ts";
import { UNDER_WAY_MS } from "../../gate/forget-person.ts";
import type { ForgetReport } from "../../gate/forget-person.ts";
import {
  createAccountHash,
  mailboxId,
  mailboxKey,
  trafficMarks,
} from "../../gate/traffic-marks.ts";
import type { Clock } from "../../base/clock.ts";
import { realClock } from "../../../test/time/real-clock.ts";
import { until } from "../../../test/time/until.ts";
import { insertRow } from "../../store/rows.ts";

const PERSON = "Jo.Doe@good.example";
const SPELLED = "jo.doe+x@good.example";
const NONE = {
  traffic: 0,
  feedback: 0,
  decisions: 0,
  watched: 0,
  requests: 0,
  rules: 0,
  lists: 0,
  batches: 0,
};

async function filled(t: TestContext, clock: Clock = realClock) {
  const { world, signedIn } = await worldFor(t, { zone: ZONE, clock });
  await world.addAccount("admin@gatepost.example", { isAdmin: true });
  const admin = await signedIn("admin@gatepost.example");
  const { db } = world.store.sql;
  const hash = createAccountHash(mailboxKey(new Uint8Array(32)));
  const own = await signedIn("admin@gatepost.example");
  await own.post("email", { email: PERSON.toLowerCase(), current_password: PASSWORD });
  for (const email of [EMAIL, "bob@gatepost.example"]) {
    const account_id = await world.addAccount(email);
    const { trafficSince: since = 0 } = (await world.store.accounts.find(account_id)) ?? {};
    for (const [number, text] of [SPELLED, "other@good.example"].entries()) {
      const parsed = parseAddress(text);
      assert.ok(parsed.ok);
      const [subject, item] = trafficMarks(
        hash,
        { accountId: account_id, since, isPage: false },
        parsed.value,
      );
      const seen = { first_ms: 1, last_ms: 1, count: 0 };
      await insertRow(db, "traffic", { account_id, subject, kind: "spelling", item, ...seen });
      const sent = { account_id, subject, ...seen };
      await insertRow(db, "traffic", { ...sent, kind: "message", item: "process1" });
      await insertRow(db, "traffic", { ...sent, kind: "sent", item: subject });
      const domain = { account_id, subject: "a domain", kind: "mailbox", item: subject } as const;
      await insertRow(db, "traffic", { ...domain, ...seen });
      const about = { account_id, id: String(number), domain: "good.example" };
      const mailbox = mailboxId(hash, account_id, parsed.value);
      const said = {
        outcome: "abuse",
        day: 30_000,
        note: "",
        account_proposal: "",
        operator_proposal: "",
      } as const;
      await insertRow(db, "feedback", { ...about, mailbox, ...said });
      await insertRow(db, "decisions", {
        ...about,
        mailbox,
        at_ms: 1,
        decision: "accept",
        reason: "ok",
        rule: null,
        policy: "default",
        version: 1,
        signals: "",
        form: null,
        key_id: null,
        subject: null,
        asked: "signup" as const,
        sources: "",
        shape: null,
        complete: 1,
      });
    }
    const browser = await signedIn(email);
    for (const text of [
      `name,email\nJo,${PERSON}\nAl,al@good.example\n`,
      "email\nother@good.example\n",
    ]) {
      assert.equal((await browser.upload("lists", "list.csv", text)).status, 200);
    }
  }
  assert.equal(
    (await admin.post("admin/lists/entries", { entry: PERSON, kind: "deny", note: "" })).status <
      300,
    true,
  );
  return { world, admin, signedIn };
}

test("a person is forgotten in every place of every account, and nobody else is", async (t) => {
  const { world, admin } = await filled(t);
  const body = { email: PERSON, current_password: PASSWORD };
  const want = {
    traffic: 8,
    feedback: 2,
    decisions: 2,
    watched: 0,
    requests: 1,
    rules: 1,
    lists: 2,
    batches: 0,
  };
  const looked = (await admin.post("admin/forget", body)).json as ForgetReport;
  assert.deepEqual(looked.found, want);
  const gone = (await admin.post("admin/forget", { ...body, delete: true })).json as ForgetReport;
  assert.deepEqual([gone.found, gone.account_id], [want, null]);
  assert.ok(gone.elsewhere.some((words) => words.includes("back-ups")));
  const again = (await admin.post("admin/forget", body)).json as ForgetReport;
  assert.deepEqual(again.found, NONE);
  const other = { ...body, email: "other@good.example" };
  const { found } = (await admin.post("admin/forget", other)).json as ForgetReport;
  assert.deepEqual(found, { ...want, requests: 0, rules: 0 });
  const { entries } = (await admin.get("admin/audit")).json as {
    entries: { action: string; detail: string }[];
  };
  const [noted] = entries.filter(({ action }) => action === "person.forgotten");
  assert.match(noted?.detail ?? "", /^traffic 8, feedback 2, [a-z0-9, ]+$/);
  assert.equal((await world.store.accounts.find(EMAIL))?.email, EMAIL);
});

test("what was under way when a person was forgotten, and is written after, goes too", async (t) => {
  const later: (() => void)[] = [];
  const after: Clock["after"] = (delayMs, task) =>
    delayMs === UNDER_WAY_MS ? (later.push(task), () => undefined) : realClock.after(delayMs, task);
  const { admin, signedIn } = await filled(t, { ...realClock, after });
  const body = { email: PERSON, current_password: PASSWORD };
  assert.equal((await admin.post("admin/forget", { ...body, delete: true })).status, 200);
  // The row of a list as a thread writes it that had read the file before.
  const browser = await signedIn(EMAIL);
  const text = `name,email\nJo,${PERSON}\n`;
  assert.equal((await browser.upload("lists", "late.csv", text)).status, 200);
  const kept = async (): Promise<number> =>
    ((await admin.post("admin/forget", body)).json as ForgetReport).found["lists"] ?? 0;
  assert.equal(await kept(), 1);
  for (const task of later) task();
  await until(async () => (await kept()) === 0);
});

test("forgetting needs the own password and an address, and names an account of the person", async (t) => {
  const { world, signedIn } = await worldFor(t);
  await world.addAccount("admin@gatepost.example", { isAdmin: true });
  const id = await world.addAccount(EMAIL);
  const admin = await signedIn("admin@gatepost.example");
  const wrong = { email: EMAIL, current_password: "not the own one" };
  assert.equal((await admin.post("admin/forget", wrong)).status, 403);
  const body = { email: EMAIL, current_password: PASSWORD, delete: true };
  assert.equal((await admin.post("admin/forget", { ...body, email: "no address" })).status, 400);
  const report = (await admin.post("admin/forget", body)).json as ForgetReport;
  assert.deepEqual([report.account_id, report.found], [id, NONE]);
  assert.notEqual(await world.store.accounts.find(id), undefined);
});
