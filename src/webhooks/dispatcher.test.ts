import { strict as assert } from "node:assert";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { manualClock } from "../../test/time/manual-clock.ts";
import { accepted, statsOf, until, webhookWorld } from "../../test/process/webhook-world.ts";
import { deliveryRow } from "./webhook-sender.ts";
import { inTransaction } from "../store/transaction.ts";
import { verifySignature } from "./verify.ts";

const SESSION = "a".repeat(32);
const PING = { account_id: "a1", event: "test.ping", session: null, data: "{}" } as const;

test("bulk.completed carries session and stats, is signed, sent once and logged", async (t) => {
  const { subscribe, announce, posts, deliveries } = await webhookWorld(t);
  await subscribe("a1");
  await announce("a1", statsOf(SESSION));
  await until("the post", () => posts.length === 1);
  const [post] = posts;
  assert.ok(post !== undefined);
  const envelope = JSON.parse(new TextDecoder().decode(post.body)) as { timestamp: string };
  assert.deepEqual(Object.keys(envelope), ["event", "timestamp", "data"]);
  assert.match(envelope.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.deepEqual(
    { ...envelope, timestamp: "" },
    {
      event: "bulk.completed",
      timestamp: "",
      data: { session: SESSION, stats: statsOf(SESSION) },
    },
  );
  assert.deepEqual([post.url, post.event], ["https://a1.example/", "bulk.completed"]);
  assert.equal(verifySignature(post.body, post.signature, "secret of a1"), true);
  await until("the log", async () => (await deliveries.list("a1", 9))[0]?.state === "done");
  const [row] = (await deliveries.list("a1", 9)).map(deliveryRow);
  assert.deepEqual(
    { ...row, duration_ms: 0, attempted_at: "" },
    {
      event: "bulk.completed",
      session: SESSION,
      status: 200,
      error: null,
      duration_ms: 0,
      attempted_at: "",
    },
  );
});

test("gate.wave goes to accounts that ask for it by name, with its figures", async (t) => {
  const { subscribe, dispatcher, stores, posts } = await webhookWorld(t);
  await subscribe("a1", undefined, ["gate.wave"]);
  await subscribe("a2");
  await subscribe("a3", undefined, ["bulk.completed"]);
  const began_at = "2026-11-26T08:00:00.000Z";
  const wave = { state: "began", began_at, ended_at: null, messages: 31, usual: 2 } as const;
  await inTransaction(stores.sql.db, async (tx) => {
    for (const id of ["a1", "a2", "a3", "nobody"])
      await dispatcher.announce(tx, id, "gate.wave", wave);
  });
  dispatcher.announcement.written();
  await until("the post", () => posts.length > 0);
  await dispatcher.stop();
  assert.deepEqual(
    posts.map(({ url, event }) => [url, event]),
    [["https://a1.example/", "gate.wave"]],
  );
  const [{ body, signature } = assert.fail()] = posts;
  const { event, data } = JSON.parse(new TextDecoder().decode(body)) as Record<string, unknown>;
  assert.deepEqual([event, data], ["gate.wave", wave]);
  assert.equal(verifySignature(body, signature, "secret of a1"), true);
});

test("an account without a webhook, or without interest in the event, is told nothing", async (t) => {
  const { subscribe, announce, deliveries } = await webhookWorld(t);
  await subscribe("a1", undefined, ["test.ping"]);
  await announce("a1", statsOf(SESSION));
  await announce("nobody", statsOf(SESSION));
  assert.deepEqual(await deliveries.list("a1", 9), []);
});

test("a store that fails undoes the mark that the batch is announced", async (t) => {
  const { subscribe, announce, stores } = await webhookWorld(t);
  await subscribe("a1");
  await stores.sql.db.schema.dropTable("webhook_deliveries").execute();
  await assert.rejects(announce("a1", statsOf(SESSION)), /webhook_deliveries/);
});

test("an outage of the store is one line of the log, and the next one another", async (t) => {
  const { dispatcher, deliveries, stores, log, announce, subscribe, posts } = await webhookWorld(t);
  await subscribe("a1");
  const claim = deliveries.claim.bind(deliveries);
  let claims = 0;
  deliveries.claim = (...words) => {
    claims += 1;
    return claim(...words);
  };
  const { schema } = stores.sql.db;
  for (const outages of [1, 2]) {
    await schema.alterTable("webhook_deliveries").renameTo("away").execute();
    for (const want = claims + 5; claims < want;) {
      const before = claims;
      dispatcher.wake();
      await until("another claim", () => claims > before);
    }
    await schema.alterTable("away").renameTo("webhook_deliveries").execute();
    await announce("a1", statsOf(SESSION));
    await until("the post", () => posts.length === outages);
    assert.deepEqual(log.events, Array<string>(outages).fill("webhooks.queue_failed"));
  }
});

test("a secret or URL changed while a delivery waits counts at once", async (t) => {
  const clock = manualClock();
  const { subscribe, announce, endpoints, box, posts, parked } = await webhookWorld(t, { clock });
  await subscribe("a1", "https://hang.example/");
  for (let index = 0; index < 9; index += 1) await announce("a1", statsOf(SESSION));
  await until("eight posts", () => parked.length === 8);
  await endpoints.change("a1", { sealedSecret: box.seal("new", "a1") });
  parked[0]?.answer();
  await until("the ninth", () => parked.length === 9);
  const last = posts.at(-1);
  assert.ok(last !== undefined);
  assert.equal(verifySignature(last.body, last.signature, "new"), true);
});

test("removing the webhook drops what waits and logs it as removed", async (t) => {
  const { subscribe, announce, endpoints, deliveries, parked } = await webhookWorld(t);
  await subscribe("a1", "https://hang.example/");
  for (let index = 0; index < 10; index += 1) await announce("a1", statsOf(SESSION));
  await until("eight posts", () => parked.length === 8);
  await endpoints.remove("a1");
  for (const each of parked) each.answer();
  await until("all over", async () =>
    (await deliveries.list("a1", 20)).every(({ state }) => state === "done" || state === "removed"),
  );
  const rows = (await deliveries.list("a1", 20)).map(deliveryRow);
  assert.equal(rows.filter(({ error }) => error?.startsWith("Removed:") === true).length, 2);
  assert.equal(parked.length, 8);
});

test("a removal between claim and attempt sends nothing and is logged", async (t) => {
  const { subscribe, announce, endpoints, deliveries, posts, dispatcher } = await webhookWorld(t);
  await subscribe("a1");
  await dispatcher.stop();
  await announce("a1", statsOf(SESSION));
  const [claimed] = await deliveries.claim(1, { perAccount: 8, inAll: 64, beyondFirst: 8 });
  assert.ok(claimed !== undefined);
  await endpoints.remove("a1");
  await dispatcher.deliver(claimed);
  assert.deepEqual([posts.length, (await deliveries.find(claimed.id))?.state], [0, "removed"]);
});

const failures = [
  ["500", accepted(500, "boom"), 500, "The receiver answered 500."],
  [
    "a redirect",
    accepted(302),
    302,
    "The receiver redirected (302), and redirects are not followed.",
  ],
  [
    "a bad certificate",
    { ok: false, fault: "tls", detail: "CERT_HAS_EXPIRED" },
    null,
    "The TLS handshake failed or the certificate is not valid. (CERT_HAS_EXPIRED)",
  ],
  [
    "silence after the status",
    { ok: false, fault: "timeout", status: 200 },
    200,
    "There was no complete answer within 10 seconds.",
  ],
] as const;

for (const [name, result, status, error] of failures) {
  test(`the log says in plain words what went wrong: ${name}`, async (t) => {
    const { subscribe, ping, answerNext } = await webhookWorld(t);
    await subscribe("a1");
    answerNext(result);
    const row = deliveryRow(await ping("a1"));
    assert.deepEqual([row.status, row.error], [status, error]);
  });
}

test("what the receiver says is kept without control characters", async (t) => {
  const { subscribe, ping, answerNext } = await webhookWorld(t);
  await subscribe("a1");
  answerNext(accepted(400, "a\u0000b\u001b[31m\nc\td\u0085"));
  const { snippet } = await ping("a1");
  assert.equal(snippet, "a\ufffdb\ufffd[31m\nc\td\ufffd");
});

test("a secret sealed with another key is an error in the log, not a fault", async (t) => {
  const { subscribe, ping, endpoints, posts } = await webhookWorld(t);
  await subscribe("a1");
  await endpoints.change("a1", { sealedSecret: "v1:AAAA" });
  assert.match(deliveryRow(await ping("a1")).error ?? "", /secret cannot be read/);
  assert.equal(posts.length, 0);
});

test("fifty receivers that hang, with work piled up, delay nobody else", async (t) => {
  // No time passes: nobody is waited for.
  const { subscribe, announce, posts, parked } = await webhookWorld(t, { clock: manualClock() });
  for (let index = 0; index < 50; index += 1) {
    await subscribe(`h${String(index)}`, "https://hang.example/");
    for (let each = 0; each < 6; each += 1) await announce(`h${String(index)}`, statsOf(SESSION));
  }
  await until("every one of them is held", () => parked.length === 58);
  await subscribe("fast");
  for (let round = 0; round < 20; round += 1) {
    await announce("fast", statsOf(SESSION));
    await until(
      "the fast one",
      () => posts.filter(({ url }) => url === "https://fast.example/").length > round,
    );
  }
  assert.equal(parked.length, 58);
});

test("a delivery cut off by a crash is logged as interrupted at the next start and never sent again", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "gatepost-webhooks-"));
  t.after(() => rm(dataDir, { recursive: true }));
  const first = await webhookWorld(t, { dataDir });
  await first.subscribe("a1", "https://hang.example/");
  for (let index = 0; index < 9; index += 1) await first.announce("a1", statsOf(SESSION));
  await until("eight are under way", () => first.parked.length === 8);
  // It dies: nobody answers it, and it claims no more.
  void first.dispatcher.stop();
  const second = await webhookWorld(t, { dataDir });
  await second.dispatcher.start("alone");
  await until("the ninth is under way", () => second.parked.length === 1);
  const rows = (await second.deliveries.list("a1", 20)).map(deliveryRow);
  const errors = rows.flatMap(({ error }) => error ?? []);
  assert.equal(errors.filter((error) => error.startsWith("Interrupted:")).length, 8);
  assert.deepEqual([second.posts.length, second.log.events], [1, ["webhooks.interrupted"]]);
});

test("among others only what began more than a minute ago is taken for abandoned", async (t) => {
  const clock = manualClock();
  const { subscribe, deliveries, dispatcher } = await webhookWorld(t, { clock });
  await subscribe("a1");
  const limits = { perAccount: 8, inAll: 64, beyondFirst: 8 };
  for (const id of ["old", "young"]) {
    await deliveries.enqueue({ ...PING, id, queued_at_ms: clock.nowMs() }, { waiting: 9 });
    await deliveries.claim(clock.nowMs(), limits);
    clock.advance(31_000);
  }
  await dispatcher.start("among_others");
  assert.deepEqual(
    [(await deliveries.find("old"))?.state, (await deliveries.find("young"))?.state],
    ["interrupted", "sending"],
  );
});

test("the log is pruned at seven days while the dispatcher runs, and polls find what others queued", async (t) => {
  const clock = manualClock();
  const { subscribe, deliveries, dispatcher, posts } = await webhookWorld(t, { clock });
  await subscribe("a1");
  const day = 86_400_000;
  const queue = (id: string, queued_at_ms: number) =>
    deliveries.enqueue({ ...PING, id, queued_at_ms }, { waiting: 9 });
  await queue("old", clock.nowMs() - 7 * day - 1);
  await queue("new", clock.nowMs() - 7 * day + 120_000);
  await dispatcher.start("alone");
  await until("the old one is gone", async () => (await deliveries.find("old")) === undefined);
  await until("the new one is sent", async () => (await deliveries.find("new"))?.state === "done");
  const before = posts.length;
  await queue("later", clock.nowMs());
  clock.advance(1_000);
  await until("a poll finds it", () => posts.length === before + 1);
});
