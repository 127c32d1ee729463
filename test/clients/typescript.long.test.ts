import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  type CountBy,
  createGatepost,
  type Decision,
  type Gatepost,
  type GatepostError,
  type GatepostOptions,
  rememberTokens,
  type Verdict,
  verifyToken,
  verifyWebhook,
} from "../../clients/typescript/src/index.ts";
import { gzipSync } from "node:zlib";
import { readDocument } from "../guards/docs-tables.ts";
import { build, type Rolldown } from "vite";
import { passingFaults, runReach } from "./reach.ts";
import { CLIENT_CASES, type DecideCase, type FeedbackCase, type MailboxesCase } from "./cases.ts";
import { assertMailboxes, feedbackFaults } from "./compare.ts";
import { type RunningWorld, startClientWorld } from "./client-world.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

const FAULT_DEADLINE_MS = 400;
const DEADLINE_MS = 5_000;

let world: RunningWorld;
before(async () => {
  world = await startClientWorld();
});
after(() => world.close());

const WRONG_KEY = `gp_live_${"0".repeat(40)}`;

const urlAt = (at: string | undefined): string =>
  at === undefined ? world.service : (world.faults[at] ?? "");

/** As `about` in the table says. */
function away(email: string): Verdict {
  if (email.startsWith("fails@")) throw new Error("no list");
  if (email.startsWith("nothing@")) return undefined as never;
  return email.endsWith("@mailinator.com") ? "reject" : "accept";
}

function clientFor(row: DecideCase, more: Partial<GatepostOptions> = {}): Gatepost {
  const { at, client = {}, expect } = row;
  const key = client.key === "wrong" ? WRONG_KEY : world.key;
  const isLate = expect.fault?.kind.includes("timeout") === true;
  return createGatepost({
    url: urlAt(at),
    deadlineMs: isLate ? FAULT_DEADLINE_MS : DEADLINE_MS,
    ...(client.key !== "none" && { key }),
    ...(client.away !== undefined && { away: client.away === "function" ? away : client.away }),
    ...more,
  });
}

function assertAsExpected(decision: Decision, { name, expect }: DecideCase): void {
  const { source, reason } = decision;
  const got = { source, decision: decision.decision, reason };
  assert.deepEqual(
    got,
    { source: expect.source, decision: expect.decision, reason: expect.reason },
    name,
  );
  for (const member of ["complete", "message", "did_you_mean"] as const) {
    if (expect[member] !== undefined) assert.equal(decision[member], expect[member], name);
  }
  if (expect.retry_after !== undefined) {
    const seconds = decision.source === "away" ? undefined : decision.retry_after;
    assert.equal(seconds ?? null, expect.retry_after, name);
  }
  if (decision.fault !== undefined) {
    const { kind, status } = decision.fault;
    assert.ok(expect.fault?.kind.includes(kind) === true, `${name}: ${kind}`);
    assert.equal(status, expect.fault?.status, name);
    return;
  }
  assert.equal(expect.fault, undefined, name);
  if (decision.source !== "service") return;
  if (expect.policy !== undefined) assert.equal(decision.policy.name, expect.policy, name);
  assert.equal(decision.verified, expect.verified, name);
  if (expect.token === true) assert.equal(typeof decision.token, "string", name);
}

test("the client decides as the table says, against the service and every fault", async () => {
  const faults: string[] = [];
  const ask = async (row: DecideCase): Promise<void> => {
    const told = (fault: GatepostError, during: string): void =>
      void faults.push(`${during} ${fault.kind}`);
    const email = row.email + " ".repeat(row.blanks ?? 0);
    const decision = await clientFor(row, { onFault: told }).decide(email, row.ask);
    assertAsExpected(decision, row);
  };
  const rows = [...CLIENT_CASES.decide];
  for (let some = rows.splice(0, 16); some.length > 0; some = rows.splice(0, 16)) {
    await Promise.all(some.map(ask));
  }
  assert.ok(faults.filter((fault) => fault.startsWith("decide")).length >= 50);
});

test("the client says as the table whether a message may be sent", async () => {
  for (const { name, email, told, says, invite, ...row } of CLIENT_CASES.may_send) {
    const expect = { source: "service", decision: "", reason: "", ...row } as const;
    const client = clientFor({ name, email, expect, ...row });
    const mailbox = email.replace("{run}", "typescript");
    if (told !== undefined) await client.feedback({ email: mailbox, outcome: told });
    for (const { with: more = {}, ...want } of says) {
      const { count_by: countBy, ...options } = more;
      const asked = { ...options, countBy: countBy as CountBy };
      const { send, ask, reason } = invite
        ? await client.mayInvite(mailbox, asked)
        : await client.maySend(mailbox, asked);
      assert.deepEqual({ send, ask, reason }, want, name);
    }
  }
});

test("the client tells feedback as the table says", async () => {
  const tell = async ({ name, tell: told, ...row }: FeedbackCase) => {
    const expect = { source: "service", decision: "", reason: "", ...row } as const;
    const client = clientFor({ name, email: "", expect, ...row });
    const fault = await client.feedback(told).then(
      () => null,
      (error: unknown) => error as GatepostError,
    );
    return [name, fault && { kind: fault.kind, status: fault.status ?? null }] as const;
  };
  const seen = await Promise.all(CLIENT_CASES.feedback.map(tell));
  assert.deepEqual(feedbackFaults(Object.fromEntries(seen)), []);
});

test("the client names mailboxes as the table says", async () => {
  const find = async ({ name, emails, times = 1, ...row }: MailboxesCase) => {
    const expect = { source: "service", decision: "", reason: "" } as const;
    const client = clientFor({ ...row, name, email: "", expect });
    const asked = Array.from({ length: times }, () => emails).flat();
    const found = await client.mailboxes(asked).then(
      (rows) => rows.map(({ id }) => id),
      ({ kind, status }: GatepostError) => ({ kind, status: status ?? null }),
    );
    return [name, found] as const;
  };
  assertMailboxes(Object.fromEntries(await Promise.all(CLIENT_CASES.mailboxes.map(find))));
});

test("tokens and webhooks are read as the table says", async () => {
  const { tokens, webhooks } = CLIENT_CASES;
  const used = rememberTokens();
  const { secrets, account } = tokens;
  for (const { name, token, email, now, form, fault } of tokens.cases) {
    const result = await verifyToken(token, { email, secrets, account, form, now, used });
    assert.equal(result.ok ? undefined : result.reason, fault, name);
  }
  for (const { name, body, signature, secret, valid } of webhooks) {
    const octets = Buffer.from(body, "base64");
    assert.equal(await verifyWebhook(octets, signature, secret), valid, name);
  }
});

test("a token of the service is verified offline, once, for its address", async () => {
  const { account, tokenSecret } = world;
  const asked = { url: world.service, key: world.key, account, tokenSecret };
  const client = createGatepost({ ...asked, deadlineMs: DEADLINE_MS });
  const tokenFor = async (email: string): Promise<string> => {
    const decision = await client.decide(email, { token: true });
    return decision.source === "service" ? (decision.token ?? "") : "";
  };
  const [first, second] = [await tokenFor("jo@good.example"), await tokenFor("jo@good.example")];
  const good = await client.verifyToken(first, " jo@good.example");
  assert.ok(good.ok);
  assert.deepEqual([good.complete, good.claims.dec, good.claims.aud], [true, "accept", account]);
  assert.deepEqual(await client.verifyToken(first, "jo@good.example"), {
    ok: false,
    reason: "replayed",
  });
  assert.deepEqual(await client.verifyToken(second, "jo@x.example"), {
    ok: false,
    reason: "address",
  });
  await assert.rejects(
    createGatepost({ url: world.service }).verifyToken(second, "jo@good.example"),
    TypeError,
  );
});

test("batches go through the real service, small and queued, and a session is resumed", async () => {
  const client = createGatepost({ url: world.service, key: world.key });
  const few = await client.bulk(["jo@good.example", "jo@mailinator.com", "jo@"]);
  assert.equal(few.results.get("jo@mailinator.com")?.disposable, true);
  assert.deepEqual([few.stats.valid, few.stats.disposable, few.stats.invalid_format], [1, 1, 1]);
  const many = Array.from({ length: 150 }, (_, at) => `jo${String(at)}@good.example`);
  const seen: string[] = [];
  const queued = await client.bulk(many, {
    onProgress: ({ session, status }) => void seen.push(`${session} ${status}`),
  });
  assert.deepEqual([queued.stats.valid, queued.results.size], [150, 150]);
  assert.equal(seen.at(-1), `${queued.session} completed`);
  const again = await client.resumeBulk(queued.session);
  assert.deepEqual(again, queued);
});

test("bundled for an application, the client has as many octets after gzip as its page says", async () => {
  const entry = new URL("../../clients/typescript/src/index.js", import.meta.url).pathname;
  const made = await build({
    configFile: false,
    logLevel: "error",
    build: { write: false, minify: true, lib: { entry, formats: ["es"] } },
  });
  const [output] = [made].flat() as readonly Rolldown.RolldownOutput[];
  const [{ code }] = output?.output ?? [{ code: "" }];
  assert.ok(code.length > 10_000);
  const [, said] = /adds ([\d.]+) KB to a bundle/.exec(readDocument("docs/clients.md")) ?? [];
  assert.equal(said, (gzipSync(code).length / 1_000).toFixed(1));
});

// The last one: it kills the service.
test("no sign-up is lost or stopped for nothing while the service is killed, slow and lying", async () => {
  const folder = temporaryFolder();
  const { service, key, faults } = world;
  const worldFile = join(folder, "world.json");
  writeFileSync(worldFile, JSON.stringify({ service, key, faults: passingFaults(faults) }));
  const program = fileURLToPath(new URL("typescript-reach.js", import.meta.url));
  const run = [process.execPath, program, worldFile, "600"] as const;
  for (const seen of await runReach([run], () => world.kill())) {
    const { count, answered, blocked_wrongly: blocked, let_in_wrongly: letIn, late } = seen;
    assert.deepEqual([answered, blocked, letIn, late], [count, 0, 0, 0], JSON.stringify(seen));
    assert.deepEqual(Object.keys(seen.sources).sort(), ["away", "service"]);
  }
});
