import { strict as assert } from "node:assert";
import { type ChildProcess, execFile, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { promisify } from "node:util";
import type { WebhookPost, WebhookSender } from "../../src/webhooks/webhook-sender.ts";
import { sign } from "../../src/webhooks/verify.ts";
import { receiverSamples, RECEIVER_URL } from "../../src/dashboard/words/receiver-samples.ts";
import { testWith } from "../process/require-tool.ts";
import { accepted, statsOf, webhookWorld } from "../process/webhook-world.ts";
import { freePort } from "../services/free-port.ts";
import { until } from "../time/until.ts";

/** What `subscribe` of the world gives the account "a1". */
const SECRET = "secret of a1";

const RUNS: Readonly<
  Record<"Node" | "Python" | "PHP", (file: string, port: number) => readonly [string, ...string[]]>
> = {
  Node: (file) => [process.execPath, `${file}.mjs`],
  Python: (file) => ["python3", `${file}.py`],
  PHP: (file, port) => ["php", "-S", `127.0.0.1:${String(port)}`, `${file}.php`],
};

interface Running {
  readonly url: string;
  /** What it printed so far. */
  readonly said: () => string;
}

const answers = (url: string): Promise<boolean> =>
  fetch(url).then(
    () => true,
    () => false,
  );

/** Runs a receiver as a user does: copied into a file, with the language's program. */
async function run(
  t: TestContext,
  name: keyof typeof RUNS,
  {
    secret,
    env = {},
  }: { readonly secret?: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Running> {
  const sample = receiverSamples(secret).find((known) => known.name === name);
  assert.ok(sample !== undefined && !sample.text.includes("…"));
  const folder = mkdtempSync(join(tmpdir(), "gatepost-receiver-"));
  const port = await freePort();
  const [tool, ...words] = RUNS[name](join(folder, "receiver"), port);
  writeFileSync(words.at(-1) ?? "", sample.text);
  const more = { PORT: String(port), TMPDIR: folder, ...env };
  const child: ChildProcess = spawn(tool, words, { env: { ...process.env, ...more } });
  const ended = new Promise((resolve) => child.once("close", resolve));
  t.after(async () => {
    child.kill();
    await ended;
    rmSync(folder, { recursive: true });
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on("data", (data: Buffer) => (said += data.toString()));
  }
  const url = `http://127.0.0.1:${String(port)}/`;
  await until(() => answers(url), { what: `the receiver in ${name}` });
  return { url, said: () => said };
}

/** Sends what the service made to a receiver, past the https server in front of it. */
const senderTo = (url: () => string, posts: WebhookPost[]): WebhookSender => ({
  async post(post) {
    posts.push(post);
    return accepted(await send(url(), post));
  },
});

async function send(
  url: string,
  {
    body,
    signature,
  }: { readonly body: Uint8Array | string; readonly signature?: string | undefined },
): Promise<number> {
  const headers = signature === undefined ? {} : { "X-Service-Signature": signature };
  const bytes = Buffer.from(body);
  return (await fetch(url, { method: "POST", headers, body: bytes })).status;
}

const has = (tool: string): boolean => spawnSync(tool, ["--version"]).status === 0;
const times = (text: string, part: string): number => text.split(part).length - 1;

for (const name of ["Node", "Python", "PHP"] as const) {
  const [tool] = RUNS[name]("", 0);
  const missing = has(tool) ? [] : [tool];

  testWith([tool], missing, `the receiver in ${name} takes what the service sends`, async (t) => {
    const receiver = await run(t, name, { secret: SECRET });
    const posts: WebhookPost[] = [];
    const world = await webhookWorld(t, { sender: senderTo(() => receiver.url, posts) });
    await world.subscribe("a1");
    const [first, second] = ["a".repeat(32), "b".repeat(32)];
    assert.equal((await world.ping("a1")).status, 200);
    await world.announce("a1", statsOf(first));
    await until(() => receiver.said().includes(`List ${first}: 1 of 4 are good.`));
    const [ping, list] = posts;
    assert.ok(ping !== undefined && list !== undefined);
    assert.equal(await send(receiver.url, list), 200, "a repeated list is answered");
    await world.announce("a1", statsOf(second));
    await until(() => receiver.said().includes(`List ${second}`));
    assert.equal(times(receiver.said(), `List ${first}`), 1, "and worked on once");
    assert.equal(times(receiver.said(), "test.ping"), 1);
    const states = (await world.deliveries.list("a1", 9)).map(({ status }) => status);
    assert.deepEqual(states, [200, 200, 200]);
  });

  testWith([tool], missing, `the receiver in ${name} refuses the rest`, async (t) => {
    const { url, said } = await run(t, name, { env: { GATEPOST_WEBHOOK_SECRET: SECRET } });
    const bytes = (text: string) => new TextEncoder().encode(text);
    const signed = (text: string, secret = SECRET) => ({
      body: text,
      signature: sign(secret, bytes(text)),
    });
    const at = (ms: number): string =>
      JSON.stringify({ event: "test.ping", timestamp: new Date(ms).toISOString(), data: {} });
    const now = at(Date.now());
    const { signature } = signed(now);
    assert.equal(await send(url, signed(now)), 200, "the secret is read from the environment");
    assert.equal(await send(url, { body: now }), 401, "no signature");
    assert.equal(await send(url, signed(now, "another")), 401, "another secret");
    assert.equal(await send(url, { body: `${now} `, signature }), 401, "a changed body");
    assert.equal(await send(url, { body: now, signature: signature.toUpperCase() }), 401);
    assert.equal(await send(url, signed(at(Date.now() - 400_000))), 400, "an old message");
    assert.equal(await send(url, signed("no JSON")), 400);
    assert.equal(await send(url, { body: "x".repeat(65_537), signature }), 413);
    assert.notEqual((await fetch(url)).status, 200, "a GET");
    await until(() => times(said(), "test.ping") === 1);
  });

  testWith([tool], missing, `the receiver in ${name} without a secret takes nothing`, async (t) => {
    const { url } = await run(t, name, { env: { GATEPOST_WEBHOOK_SECRET: "" } });
    const body = JSON.stringify({ event: "test.ping", timestamp: new Date().toISOString() });
    const signature = sign("x", new TextEncoder().encode(body));
    assert.equal(await send(url, { body, signature }), 401);
  });
}

const forTest = [
  ...(has("curl") ? [] : ["curl"]),
  ...(spawnSync("openssl", ["version"]).status === 0 ? [] : ["openssl"]),
];

testWith(["curl", "openssl"], forTest, "the commands send a receiver a signed test", async (t) => {
  const secret = "it's a secret";
  const { url, said } = await run(t, "Node", { secret });
  const commands = receiverSamples(secret).find(({ name }) => name === "curl")?.text ?? "";
  assert.ok(commands.includes(RECEIVER_URL));
  const { stdout } = await promisify(execFile)("sh", ["-c", commands.replace(RECEIVER_URL, url)]);
  assert.match(stdout, /^HTTP\/1\.1 200/);
  await until(() => said().includes("test.ping"));
});
