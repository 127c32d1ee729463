import assert from "node:assert/strict";
import { test } from "node:test";
import { ask } from "../../../test/policy/asked-decision.ts";
import { counted, sender } from "../../../test/policy/sender.ts";
import { realClock } from "../../../test/time/real-clock.ts";

const HOUR_MS = 3_600_000;

test("a bot asks for 100 codes for one address in varied spellings: three go out", async (t) => {
  const { said, may, clock } = await sender(t);
  const all: string[] = [];
  for (let at = 0; at < 100; at += 1) {
    const tag = at % 3 === 0 ? "" : `+${String(at)}`;
    all.push(await said(`${at % 2 === 0 ? "jo.doe" : "J.o.Doe"}${tag}@gmail.com`));
    clock.advance(1_000);
  }
  assert.deepEqual(counted(all), { "accept ok": 3, "reject too_often": 97 });
  const answer = await may("jodoe@gmail.com");
  assert.equal(answer.retry_after, 500);
  assert.deepEqual(Object.keys(answer).slice(0, 4), [
    "decision",
    "reason",
    "message",
    "retry_after",
  ]);
  clock.advance(499_000);
  assert.equal((await may("jodoe@gmail.com")).retry_after, 1);
  clock.advance(1_000);
  assert.equal(await said("jodoe@gmail.com"), "accept ok");
});

test("100 questions at once let three messages out", async (t) => {
  const { said } = await sender(t);
  const emails = Array.from({ length: 100 }, (_, at) => `jo+${String(at)}@gmail.com`);
  const all = await Promise.all(emails.map((email) => said(email)));
  assert.deepEqual(counted(all), { "accept ok": 3, "reject too_often": 97 });
});

test("ten messages a day to one mailbox, and the answer says when the next may go", async (t) => {
  const { said, may, clock } = await sender(t);
  for (let at = 0; at < 10; at += 1) {
    assert.equal(await said("jo@firm.example"), "accept ok");
    clock.advance(HOUR_MS);
  }
  const { reason, retry_after: after } = await may("jo@firm.example");
  assert.deepEqual([reason, after], ["too_often", 14 * 3_600]);
});

const RULED: readonly (readonly [email: string, said: string])[] = [
  ["jo", "reject format"],
  ["jo@foe.example", "reject denied"],
  ["jo@none.example", "reject no_mail_server"],
  ["5551234567@vtext.com", "review sms_gateway"],
  ["jo@gmaik.com", "challenge typo"],
  ["bounced+x@firm.example", "reject bounced"],
  ["complained@firm.example", "reject complained"],
  ["fine@firm.example", "accept ok"],
];

test("the built-in policy of messages, and what feedback says", async (t) => {
  const { said, report } = await sender(t);
  await report("bounced@firm.example", "bounce");
  await report("complained@firm.example", "complaint");
  await report("fine@firm.example", "bounce");
  await report("fine@firm.example", "fine");
  for (const [email, want] of RULED) assert.equal(await said(email), want, email);
});

test("sign-ups and messages are counted apart", async (t) => {
  const { world, account, may, said } = await sender(t);
  const key = { "x-api-key": account.apiKey };
  for (let at = 0; at < 5; at += 1) await ask(world, { email: `m${String(at)}@firm.example` }, key);
  assert.equal(await said("m0@firm.example"), "accept ok", "sign-ups are no messages");
  for (let at = 0; at < 3; at += 1) await may(`n${String(at)}@firm.example`);
  const { answer } = await ask(world, { email: "m0@firm.example" }, key);
  assert.deepEqual([answer.reason, answer.policy.name], ["burst", "default"]);
  assert.equal((await may("m0@firm.example")).policy.name, "send");
});

test("the account's own policy named send decides, with the facts of messages", async (t) => {
  const { world, account, said } = await sender(t);
  const owner = (await world.store.accounts.find(account.id)) ?? assert.fail();
  const rules = [
    { when: { sent_known: true }, then: "accept" },
    { when: { sent_known: false }, then: "review" },
  ];
  const by = { account: owner, author: "jo" };
  assert.equal((await world.policies.save(by, "send", { rules }, "live")).version, 2);
  assert.equal(await said("jo@firm.example"), "review denied");
  assert.equal(
    await said("jo@firm.example"),
    "review denied",
    "what is held for review is not sent",
  );
  await world.policies.remove(account.id, "send");
  assert.equal(await said("jo@firm.example"), "accept ok");
});

test("another account sees nothing of it; traffic that is off counts nothing", async (t) => {
  const { world, account, said } = await sender(t);
  for (let at = 0; at < 4; at += 1) await said("jo@firm.example");
  const other = await world.account("ann@other.example");
  assert.equal(await said("jo@firm.example", other.apiKey), "accept ok");
  assert.equal(await said("jo@firm.example"), "reject too_often");
  await world.store.switches.switchTraffic(account.id, "off");
  for (let at = 0; at < 5; at += 1) assert.equal(await said("jo@firm.example"), "accept ok");
});

test("only a secret key asks about messages", async (t) => {
  const { world } = await sender(t);
  const none = await ask(world, { email: "jo@firm.example", for: "send" });
  assert.equal(none.status, 401);
  const wrong = await ask(world, { email: "jo@firm.example", for: "sending" });
  assert.equal(wrong.status, 400);
});

test("the decision log says what was asked", async (t) => {
  const { world, account, said } = await sender(t);
  await world.store.switches.switchLog(account.id, "on");
  await ask(world, { email: "jo@firm.example" }, { "x-api-key": account.apiKey });
  await said("jo@firm.example");
  await world.flush();
  const page = (asked?: string) =>
    world.decisionLog.page(account.id, { limit: 10, ...(asked !== undefined && { for: asked }) });
  assert.deepEqual(
    (await page()).decisions.map((one) => one.for),
    ["send", "signup"],
  );
  assert.equal((await page("send")).decisions.length, 1);
});

test("what strangers ask for uses up nothing of a person who is known, nor of notices", async (t) => {
  const { may, said } = await sender(t);
  for (let at = 0; at < 10; at += 1) await said("jo@firm.example");
  const known = async (): Promise<string> => {
    const { decision, reason } = await may("jo@firm.example", { known: true });
    return `${decision} ${reason}`;
  };
  for (let at = 0; at < 3; at += 1) assert.equal(await known(), "accept ok");
  assert.equal(await known(), "reject too_often", "it has counts of its own");
  for (let at = 0; at < 5; at += 1) {
    const { decision, policy } = await may("jo@firm.example", { policy: "notify" });
    assert.deepEqual([decision, policy], ["accept", { name: "notify", version: 1 }]);
  }
  assert.equal((await may("ann@firm.example", { policy: "notify" })).decision, "accept");
  for (let at = 0; at < 3; at += 1) assert.equal(await said("ann@firm.example"), "accept ok");
});

test("notices go everywhere but where no message should", async (t) => {
  const { may, report } = await sender(t);
  await report("bounced@firm.example", "bounce");
  await report("complained@firm.example", "complaint");
  const said = async (email: string): Promise<string> => {
    const { decision, reason } = await may(email, { policy: "notify" });
    return `${decision} ${reason}`;
  };
  for (const [email, want] of [
    ["jo", "reject format"],
    ["jo@foe.example", "reject denied"],
    ["jo@none.example", "reject no_mail_server"],
    ["bounced@firm.example", "reject bounced"],
    ["complained@firm.example", "reject complained"],
    ["5551234567@vtext.com", "accept ok"],
    ["jo@gmaik.com", "accept ok"],
  ] as const) {
    assert.equal(await said(email), want, email);
  }
});

test("who has answered is not challenged again, and is refused as ever", async (t) => {
  const { may } = await sender(t);
  const said = async (email: string): Promise<string> => {
    const { decision, reason } = await may(email, { confirmed: true });
    return `${decision} ${reason}`;
  };
  assert.equal((await may("jo@gmaik.com")).decision, "challenge");
  for (let at = 0; at < 3; at += 1) assert.equal(await said("jo@gmaik.com"), "accept ok");
  assert.equal(await said("jo@gmaik.com"), "reject too_often", "confirmed, it is a message");
  assert.equal(await said("jo@foe.example"), "reject denied");
});

test("a message that other servers could not be asked about in time waits for 5 seconds, a notice does not", async (t) => {
  const { may } = await sender(t, {
    sharedTraffic: (store) => ({
      ofSubjects: (...asked) => store.ofSubjects(...asked),
      add: (rows) => store.add(rows),
      addIf: () => new Promise(() => undefined),
    }),
    clock: realClock,
  });
  const asked = { deadline_ms: 50 };
  const { decision, reason, retry_after } = await may("jo@firm.example", asked);
  assert.deepEqual([decision, reason, retry_after], ["reject", "too_often", 5]);
  const notice = await may("jo@firm.example", { ...asked, policy: "notify" });
  assert.equal(notice.decision, "accept");
});
