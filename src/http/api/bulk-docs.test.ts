import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  type Answer,
  type BulkServer,
  bulkServer,
  sessionIn,
} from "../../../test/bulk/bulk-http.ts";
import { domains } from "../../../test/bulk/bulk-world.ts";
import { readDocument } from "../../../test/guards/docs-tables.ts";

const OWNER = { key: "a1" } as const;

const page = readDocument("docs/bulk.md");
const blocks = (language: string): readonly string[] =>
  [...page.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, "g"))].map(
    (match) => match[1] ?? "",
  );
const SESSION = "0".repeat(32);
/** A JSON text with every session the same, and no blanks. */
const plain = (text: string): string =>
  JSON.stringify(JSON.parse(text)).replaceAll(/[0-9a-f]{32}/g, SESSION);
const [summary = "", results = "", queued = "", completed = "", deleted = ""] = blocks("json");

/** Sends a request as the page shows it. */
function send(server: BulkServer, request: string): Promise<Answer> {
  const [, path = "", type = "", body = ""] =
    /^POST (\S+)\nContent-Type: (\S+)\n\n([^]*?)\n$/.exec(request) ?? [];
  return server.ask(path, { headers: { "content-type": type }, body });
}

test("docs/bulk.md: the requests are answered as it shows", async (t) => {
  const server = await bulkServer(t);
  const answers = await Promise.all(blocks("http").map((request) => send(server, request)));
  assert.deepEqual(
    answers.map(({ body }) => plain(body)),
    [plain(summary), plain(results)],
  );
});

test("docs/bulk.md: the other shapes are as it shows", async (t) => {
  const server = await bulkServer(t);
  const keys = (text: string): readonly string[] =>
    Object.keys(JSON.parse(text) as Readonly<Record<string, unknown>>);
  const many = domains(101).replaceAll("\n", ",");
  const job = await server.post("/api/email", `bulk=1&email=${many}`, OWNER);
  assert.deepEqual(keys(job.body), keys(queued));
  const none = await server.post("/api/email", "bulk=1&email=x,y", OWNER);
  const view = `/api/view/${sessionIn(none)}`;
  assert.equal(plain((await server.ask(view, OWNER)).body), plain(completed));
  const removed = await server.ask(view, { ...OWNER, method: "DELETE" });
  assert.equal(plain(removed.body), plain(deleted));
});

test("docs/bulk.md: the columns of the CSV are as it lists them", async (t) => {
  const server = await bulkServer(t);
  const sync = await server.post("/api/email", "bulk=1&email=example.com", OWNER);
  const csv = await server.ask(`/api/view/${sessionIn(sync)}/csv`, OWNER);
  const [header = ""] = csv.body.split("\r\n");
  const names = (blocks("text").find((block) => block.startsWith("status,")) ?? "").trim();
  assert.equal(header, `entry,${names}`);
});
