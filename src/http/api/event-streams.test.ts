import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  type AskOptions,
  type BulkServer,
  bulkServer,
  sessionIn,
} from "../../../test/bulk/bulk-http.ts";
import { domains } from "../../../test/bulk/bulk-world.ts";
import { rawClient } from "../../../test/http/raw-http.ts";
import { COMMENT_EVERY_MS, LOOK_EVERY_MS } from "./view.ts";
import { until } from "../../../test/time/until.ts";

const OWNER: AskOptions = { key: "a1" };
const OTHER: AskOptions = { key: "a2" };
const form = `bulk=1&email=${domains(101).replaceAll("\n", ",")}`;

interface Follower {
  readonly response: Response;
  /** Everything read so far. */
  readonly text: () => string;
  /** The same at the end of the stream. */
  readonly ended: Promise<string>;
  readonly leave: () => Promise<void>;
}

async function follow(server: BulkServer, session: string, asked = OWNER): Promise<Follower> {
  const response = await server.open(`/api/view/${session}/events`, asked);
  const reader = response.body?.getReader();
  let text = "";
  const read = async (): Promise<string> => {
    for (;;) {
      const step = await reader?.read();
      if (step === undefined || step.done) return text;
      text += Buffer.from(step.value).toString("utf8");
    }
  };
  const ended = read();
  ended.catch(() => undefined);
  return { response, text: () => text, ended, leave: async () => reader?.cancel() };
}

const submit = async (server: BulkServer, asked = OWNER): Promise<string> =>
  sessionIn(await server.post("/api/email", form, asked));

const events = (text: string): readonly string[] =>
  [...text.matchAll(/^event: (\w+)$/gm)].map((match) => match[1] ?? "");

test("a job is followed from pending to completed", async (t) => {
  const server = await bulkServer(t);
  const session = await submit(server);
  const { response, text, ended } = await follow(server, session);
  assert.equal(response.headers.get("content-type"), "text/event-stream; charset=utf-8");
  assert.equal(response.headers.get("cache-control"), "no-store");
  await until(() => text().includes("pending") || undefined);
  server.worker().start();
  await until(async () => {
    server.stores.clock.advance(1_000);
    const { headers } = await server.ask(`/api/view/${session}`, OWNER);
    return headers.get("content-type")?.startsWith("text/plain") === true ? true : undefined;
  });
  server.stores.clock.advance(1_000);
  const all = await ended;
  assert.equal(events(all).at(0), "progress");
  assert.equal(events(all).at(-1), "completed");
  assert.equal(events(all).filter((name) => name === "completed").length, 1);
  const last = /event: completed\ndata: (.*)\n\n$/.exec(all)?.[1] ?? "";
  assert.deepEqual(JSON.parse(last), {
    session,
    status: "completed",
    email_count: 101,
    processed_count: 101,
  });
});

test("a finished session is one event", async (t) => {
  const server = await bulkServer(t);
  const session = sessionIn(await server.post("/api/email", "bulk=1&email=x.example", OWNER));
  assert.deepEqual(events(await (await follow(server, session)).ended), ["completed"]);
});

test("a quiet stream has a comment every 15 s", async (t) => {
  const server = await bulkServer(t);
  const { text, leave } = await follow(server, await submit(server));
  await until(() => text().includes("pending") || undefined);
  server.stores.clock.advance(COMMENT_EVERY_MS - 1);
  assert.ok(!text().includes(":\n\n"));
  server.stores.clock.advance(COMMENT_EVERY_MS + 1);
  await until(() => (text().split("\n\n:").length > 2 ? true : undefined));
  await leave();
});

test("an owner has four streams at a time, and a place is free again when one ends", async (t) => {
  const server = await bulkServer(t);
  const session = await submit(server);
  const others = await submit(server, OTHER);
  const streams: Follower[] = [];
  for (let n = 0; n < 4; n += 1) streams.push(await follow(server, session));
  const fifth = await server.ask(`/api/view/${session}/events`, OWNER);
  assert.deepEqual(
    [fifth.status, fifth.body],
    [429, '{"error":"At most 4 event streams at a time."}'],
  );
  const other = await follow(server, others, OTHER);
  assert.equal(other.response.status, 200);
  await streams[0]?.leave();
  const again = await until(async () => {
    const stream = await follow(server, session);
    return stream.response.status === 200 ? stream : undefined;
  });
  for (const stream of [...streams.slice(1), other, again]) await stream.leave();
});

test("a client that leaves before its stream begins takes no place", async (t) => {
  let asked = 0;
  let begin = (): void => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const server = await bulkServer(t, {
    over: (bulk) => ({
      progress: async (caller, session) => {
        asked += 1;
        await begun;
        return bulk.progress(caller, session);
      },
    }),
  });
  const session = await submit(server);
  for (let n = 0; n < 4; n += 1) {
    const client = rawClient(server.port);
    client.write(
      `GET /api/view/${session}/events HTTP/1.1\r\nHost: a\r\nX-Api-Key: a1\r\n` +
        "X-Forwarded-For: 192.0.2.1\r\n\r\n",
    );
    await until(() => asked > n || undefined);
    client.destroy();
    await client.closed;
  }
  assert.equal((await server.ask(`/api/view/${session}/events`, OWNER)).status, 429);
  begin();
  const stream = await until(async () => {
    const next = await follow(server, session);
    return next.response.status === 200 ? next : undefined;
  });
  await stream.leave();
});

test("a refused session takes no place", async (t) => {
  const server = await bulkServer(t);
  for (let n = 0; n < 6; n += 1) {
    const { status } = await server.ask("/api/view/0123456789abcdef0123456789abcdef/events", OWNER);
    assert.equal(status, 404);
  }
});

test("a revoked key ends its streams at the next look", async (t) => {
  const server = await bulkServer(t);
  const { text, ended } = await follow(server, await submit(server));
  await until(() => text().includes("pending") || undefined);
  server.revoked.add("a1");
  server.stores.clock.advance(LOOK_EVERY_MS);
  assert.deepEqual(events(await ended), ["progress"]);
  assert.ok(LOOK_EVERY_MS < 5_000);
});

test("a deleted session ends its streams without a last event", async (t) => {
  const server = await bulkServer(t);
  const session = await submit(server);
  const { text, ended } = await follow(server, session);
  await until(() => text().includes("pending") || undefined);
  await server.ask(`/api/view/${session}`, { ...OWNER, method: "DELETE" });
  server.stores.clock.advance(1_000);
  assert.deepEqual(events(await ended), ["progress"]);
});

test("stopping the server ends streams at once", async (t) => {
  const server = await bulkServer(t);
  const { text, ended } = await follow(server, await submit(server));
  await until(() => text().includes("pending") || undefined);
  await server.stop();
  assert.deepEqual(events(await ended), ["progress"]);
});
