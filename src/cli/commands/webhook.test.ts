import { strict as assert } from "node:assert";
import { type TestContext, test } from "node:test";
import {
  type Receive,
  type WebhookReceiver,
  receiveWebhooks,
} from "../../webhooks/loopback-receiver.ts";
import type { Account } from "../../accounts/accounts-store.ts";
import type { OutboundFailure } from "../../outbound/outbound-types.ts";
import { Refusal } from "../../base/refusals.ts";
import { WebhookSetup } from "../../webhooks/configure.ts";
import { envelope } from "../../webhooks/dispatcher.ts";
import { sign } from "../../webhooks/verify.ts";
import { accepted, statsOf, until, webhookWorld } from "../../../test/process/webhook-world.ts";
import { recordingTerminal } from "../../../test/process/recording-terminal.ts";
import { webhookCommand } from "./webhook.ts";

const OWN: Account = {
  id: "a1",
  email: "a1@x.example",
  tier: "free",
  origin: "operator",
  isAdmin: false,
  isDisabled: false,
  trafficSince: 1,
  logsDecisions: false,
  creditBalance: 0,
  createdAtMs: 0,
};

async function shell(t: TestContext, failed?: OutboundFailure) {
  const world = await webhookWorld(t);
  let [out, closed] = ["", 0];
  let receiver: WebhookReceiver | undefined;
  t.after(() => receiver?.close());
  const receive: Receive = async (...given) => {
    receiver = await receiveWebhooks(...given);
    return receiver;
  };
  const checkHost = () => Promise.resolve(failed);
  let input = "topsecret";
  const terminal = {
    ...recordingTerminal(),
    out: (text: string) => void (out += text),
    readInput: () => Promise.resolve(input),
  };
  const openWebhooks = () =>
    Promise.resolve({
      accounts: {
        find: (account: string) => Promise.resolve(account === OWN.email ? OWN : undefined),
      },
      setup: new WebhookSetup({ ...world, checkHost }),
      dispatcher: world.dispatcher,
      deliveries: world.deliveries,
      close: () => Promise.resolve(void (closed += 1)),
    });
  return {
    ...world,
    type: (text: string) => void (input = text),
    opened: () => receiver,
    outSoFar: () => out,
    /** Runs one command line; gives its exit code, output and the reason of a failure. */
    run: async (...words: string[]) => {
      [out, closed] = ["", 0];
      const command = webhookCommand(terminal, openWebhooks, receive).exitOverride();
      for (const child of command.commands)
        child.exitOverride().configureOutput({ writeErr: () => undefined });
      try {
        await command.parseAsync(words, { from: "user" });
        return { code: 0, out, closed };
      } catch (fault) {
        if (fault instanceof Refusal) return { code: 1, out, closed, reason: fault.message };
        assert.ok(fault instanceof Error && "exitCode" in fault, String(fault));
        return { code: fault.exitCode, out, closed, reason: fault.message };
      }
    },
  };
}

const ACCOUNT = "a1@x.example";

test("set prints URL, events and the new secret once, as JSON exactly these three", async (t) => {
  const { run, subscribe } = await shell(t);
  await subscribe("a1");
  const json = await run(
    "set",
    ACCOUNT,
    "https://hook.example/x",
    "--events",
    "bulk.completed",
    "--json",
  );
  const settings = JSON.parse(json.out) as { secret: string };
  assert.deepEqual(Object.keys(settings), ["url", "events", "secret"]);
  assert.deepEqual(
    { ...settings, secret: "" },
    { url: "https://hook.example/x", events: ["bulk.completed"], secret: "" },
  );
  assert.match(settings.secret, /^[0-9a-f]{64}$/);
  const text = await run("set", ACCOUNT, "https://hook.example/x");
  assert.match(
    text.out,
    /^URL {5}https:\/\/hook\.example\/x\nEvents {2}all\nSecret {2}[0-9a-f]{64}\n/,
  );
  const renewed = await run("secret", ACCOUNT, "--json");
  assert.notEqual((JSON.parse(renewed.out) as { secret: string }).secret, settings.secret);
  const selected = await run("events", ACCOUNT, "", "--json");
  assert.deepEqual(JSON.parse(selected.out), { url: "https://hook.example/x", events: [] });
  assert.equal(selected.closed, 1);
});

test("a refused URL and an unknown account exit 1 with the reason", async (t) => {
  const { run, subscribe } = await shell(t, { ok: false, fault: "not_public", detail: "10.0.0.1" });
  await subscribe("a1");
  const rows = [
    [["set", ACCOUNT, "http://hook.example/"], /begin with https/],
    [["set", ACCOUNT, "https://hook.example/"], /leads to an address that is not public/],
    [["set", "nobody", "https://hook.example/"], /^no account nobody$/],
    [["ping", "nobody"], /^no account nobody$/],
  ] as const;
  for (const [words, reason] of rows) {
    const result = await run(...words);
    assert.deepEqual([result.code, result.out, result.closed], [1, "", 1], words.join(" "));
    assert.match(result.reason ?? "", reason);
  }
});

test("without a webhook everything but set exits 1", async (t) => {
  const { run, stores } = await shell(t);
  assert.ok(stores);
  for (const words of [["ping"], ["secret"], ["events"], ["remove"]]) {
    const [name = ""] = words;
    const result = await run(name, ACCOUNT, ...(name === "events" ? ["test.ping"] : []));
    assert.equal(result.code, 1, name);
    assert.match(result.reason ?? "", /webhook is set/i);
  }
});

test("ping says what came of it, and log --json has exactly its six keys", async (t) => {
  const { run, subscribe, answerNext, announce, deliveries } = await shell(t);
  await subscribe("a1");
  const good = await run("ping", ACCOUNT);
  assert.equal(good.code, 0);
  assert.match(good.out, /test\.ping {2}Accepted \(200\) in \d+ ms\./);
  answerNext(accepted(503));
  const bad = await run("ping", ACCOUNT, "--json");
  assert.equal(bad.code, 1);
  await announce("a1", statsOf("c".repeat(32)));
  await until("the delivery", async () => (await deliveries.list("a1", 1))[0]?.state === "done");
  const log = JSON.parse((await run("log", ACCOUNT, "--json")).out) as Record<string, unknown>[];
  assert.equal(log.length, 3);
  const keys = ["event", "session", "status", "error", "duration_ms", "attempted_at"];
  for (const row of log) assert.deepEqual(Object.keys(row), keys);
  assert.deepEqual(
    log.map(({ event, status }) => `${String(event)} ${String(status)}`).toSorted(),
    ["bulk.completed 503", "test.ping 200", "test.ping 503"],
  );
  assert.equal((await run("log", ACCOUNT, "--limit", "1")).out.split("\n").length, 2);
  assert.equal((await run("log", ACCOUNT, "--limit", "0")).code, 2);
});

test("remove forgets the URL", async (t) => {
  const { run, subscribe, endpoints } = await shell(t);
  await subscribe("a1");
  assert.deepEqual(await run("remove", ACCOUNT), { code: 0, out: "Webhook removed.\n", closed: 1 });
  assert.equal(await endpoints.find("a1"), undefined);
});

test("listen verifies over a real socket, prints without driving the terminal, and answers", async (t) => {
  const { run, opened, outSoFar } = await shell(t);
  const running = run("listen", "--port", "0");
  await until("it listens", () => opened() !== undefined);
  const receiver = opened();
  assert.ok(receiver !== undefined);
  const body = envelope("test.ping", '{"message":"\\u001b[31mhi\\u009b"}', 0);
  const post = async (headers: Record<string, string>, content: Uint8Array | string = body) =>
    (await fetch(receiver.url, { method: "POST", headers, body: Buffer.from(content) })).status;
  const signed = { "X-Service-Event": "test.ping", "X-Service-Signature": sign("topsecret", body) };
  assert.equal(await post(signed), 204);
  assert.match(outSoFar(), /^test\.ping, signature good\n\{\n {2}"event": "test\.ping",/);
  assert.equal(await post({ ...signed, "X-Service-Signature": "0".repeat(64) }), 401);
  assert.equal(await post({}, "no json \u001b[2J"), 401);
  assert.equal(await post(signed, Buffer.alloc(2_000_000)).catch(() => 413), 413);
  assert.equal((await fetch(receiver.url)).status, 405);
  assert.match(outSoFar(), /no event, SIGNATURE BAD\nno json /);
  assert.doesNotMatch(outSoFar(), /[^\P{Cc}\n]/u);
  receiver.close();
  assert.equal((await running).code, 0);
});

test("listen wants a port and a secret", async (t) => {
  const { run, type } = await shell(t);
  assert.equal((await run("listen", "--port", "70000")).code, 2);
  type(" \n");
  assert.equal((await run("listen")).code, 2);
});
