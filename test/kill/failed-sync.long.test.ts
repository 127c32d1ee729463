// A disk that refuses to sync, for real: nothing that got no 200 is paid twice, and nothing is written until a restart.
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { hasTool, testWith } from "../process/require-tool.ts";
import { endOf } from "../services/child.ts";
import { until } from "../time/until.ts";
import { type Account, openAccount } from "./front.ts";
import { type Ground, openGround } from "./ground.ts";

const SMALL = 3;
/** Is queued, and the bulk thread checks it. */
const LARGE = 120;

interface World {
  readonly ground: Ground;
  readonly account: Account;
  readonly pid: number;
  readonly url: string;
}

async function inWorld(use: (world: World) => Promise<void>): Promise<void> {
  const ground = await openGround("sqlite");
  try {
    const account = await ground.look((sql) => openAccount(sql, "ada", "pro"));
    const { url, pid } = await start(ground);
    await use({ ground, account, pid, url });
  } finally {
    await ground.close();
  }
}

async function start({ places: [place] }: Ground): Promise<{ url: string; pid: number }> {
  await place?.start();
  assert.ok(place?.running?.child.pid !== undefined);
  return { url: place.running.url, pid: place.running.child.pid };
}

async function send({ account, url }: Omit<World, "ground" | "pid">, key: string, count = SMALL) {
  const email = Array.from({ length: count }, (_, index) => `jo@n${String(index + 1)}.example`);
  const answer = await fetch(`${url}/api/email`, {
    method: "POST",
    headers: { ...account.headers, "idempotency-key": key, "content-type": "application/json" },
    body: JSON.stringify({ bulk: true, email }),
  });
  const body = (await answer.json()) as { readonly session?: string };
  return { status: answer.status, session: body.session ?? "" };
}

const sendOf = async (world: World, key: string): Promise<number> =>
  (await send(world, key)).status;

/** From now on these threads' syncs fail; ends with the tracer. */
async function refuseSyncs(threads: readonly number[], words: readonly string[]) {
  const inject = ["-e", "trace=fdatasync,fsync", "-e", "inject=fdatasync,fsync:error=EIO"];
  const ids = threads.flatMap((thread) => ["-p", String(thread)]);
  const tracer = spawn("strace", [...words, "-o", "/dev/null", ...inject, ...ids], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  while (!said.includes("attached")) {
    const [text] = (await once(tracer.stderr, "data")) as [Buffer];
    said += text.toString();
  }
  return tracer;
}

async function end(tracer: ChildProcess): Promise<void> {
  tracer.kill("SIGTERM");
  await endOf(tracer);
}

const threadsOf = (pid: number): readonly number[] =>
  readdirSync(`/proc/${String(pid)}/task`).map(Number);

const look = ({ ground, account: { id } }: World) =>
  ground.look(async ({ db }) => {
    const owner = `account:${id}` as const;
    const charges = await db.selectFrom("charges").selectAll().where("owner", "=", owner).execute();
    const rows = await db.selectFrom("webhook_deliveries").select("session").execute();
    const units = charges.reduce((sum, row) => sum + Number(row.amount) - Number(row.refunded), 0);
    return { units, sessions: rows.map(({ session }) => session) };
  });

/** It says what it is that is broken, and once. */
async function assertTold({ ground: { places }, url }: World): Promise<void> {
  const ready = async () => {
    const answer = await fetch(`${url}/readyz`);
    return `${String(answer.status)} ${await answer.text()}`;
  };
  await until(async () => /^503 .*database/s.test(await ready()));
  const toldLines = (): readonly string[] =>
    (places[0]?.running?.log().split("\n") ?? []).filter((line) =>
      /"part":"database".*health\.broken/.test(line),
    ); // on a busy machine lists that wait for the thread may be told before
  const told = await until(() => (toldLines().length > 0 ? toldLines() : undefined));
  assert.equal(told.length, 1, told.join("\n"));
  assert.match(told[0] ?? "", /"database".*nothing is written until a restart/);
}

const rule = (sentence: string, check: (world: World) => Promise<void>): void =>
  testWith(["strace"], hasTool("strace") ? [] : ["strace"], sentence, () => inWorld(check));

rule("a batch that met a failing sync is found by its key after a restart", async (world) => {
  const { ground, account } = world;
  const before = await send(world, "before");
  assert.equal(before.status, 200);
  const tracer = await refuseSyncs([world.pid], ["-f"]);
  assert.equal(await sendOf(world, "during"), 503);
  await assertTold(world);
  await end(tracer);
  assert.equal(await sendOf(world, "later"), 503, "a disk that works again is not believed");
  const { headers } = account;
  const view = await fetch(`${world.url}/api/view/${before.session}`, { headers });
  assert.equal(view.status, 200, "reading goes on");
  await ground.places[0]?.stop("SIGTERM");
  const again = { account, ...(await start(ground)) };
  const sessions = [before.session];
  for (const key of ["during", "later"]) {
    const first = await send(again, key);
    assert.equal(first.status, 200);
    assert.deepEqual(await send(again, key), first);
    sessions.push(first.session);
  }
  const found = await look(world);
  assert.deepEqual([found.units, found.sessions.length], [3 * SMALL, sessions.length]);
  assert.deepEqual(new Set(found.sessions), new Set(sessions));
});

rule("a sync that fails while SQLite copies its log ends all writing", async (world) => {
  const others = threadsOf(world.pid); // those that wait for the disk are among them
  const { status, session } = await send(world, "large", LARGE);
  assert.equal(status, 200);
  const { headers } = world.account;
  const isDone = async (): Promise<boolean> =>
    (await (await fetch(`${world.url}/api/view/${session}`, { headers })).text()).includes("@");
  await until(isDone, { what: "the end of the batch", everyMs: 50 });
  const bulk = threadsOf(world.pid).filter((thread) => !others.includes(thread));
  assert.ok(bulk.length > 0, "no thread checks the batch");
  const tracer = await refuseSyncs(bulk, []);
  let sent = 0;
  const isRefused = async (): Promise<boolean> =>
    (await sendOf(world, `small ${String((sent += 1))}`)) === 503;
  await until(isRefused, { everyMs: 200 });
  await assertTold(world);
  await end(tracer);
});
