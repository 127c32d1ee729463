import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  type Answer,
  type BulkServer,
  bulkServer,
  sessionIn,
} from "../../../test/bulk/bulk-http.ts";
import { createShares } from "../../base/shares.ts";
import { readFile } from "./read-file.ts";
import type { BulkService } from "../../bulk/jobs/submit.ts";
import { until } from "../../../test/time/until.ts";
import { OWNER, type Upload, type Content, upload } from "../../../test/bulk/upload.ts";

/** The rows of the session's CSV: what was uploaded, and the status. */
async function rowsOf(server: BulkServer, answer: Answer, columns: number): Promise<string[]> {
  const { body } = await server.ask(`/api/view/${sessionIn(answer)}/csv`, OWNER);
  const rows = body.split("\r\n").slice(0, -1);
  return rows.map((row) =>
    row
      .split(/(?<=[,;\t])/)
      .slice(0, columns + 1)
      .join("")
      .replace(/[,;\t]$/, ""),
  );
}

const BOM = "\ufeff";
const utf16 = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, "utf16le"));
const utf16be = (text: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.from(text, "utf16le").swap16());
const PEOPLE = "Name,Mail\nAda,ada@x.example\nBob,nonsense\n";
const PEOPLE_ROWS = ["Name,Mail,status", "Ada,ada@x.example,valid", "Bob,nonsense,invalid_format"];

/** Name, file, options, and the first columns of what comes back. */
const files: readonly (readonly [string, Content, Upload, readonly string[]])[] = [
  ["a CSV with a header", PEOPLE, {}, PEOPLE_ROWS],
  ["behind a byte order mark", BOM + PEOPLE, {}, PEOPLE_ROWS],
  ["UTF-16 with its mark", utf16(BOM + PEOPLE), {}, PEOPLE_ROWS],
  ["UTF-16 the other way round", utf16be(BOM + PEOPLE), {}, PEOPLE_ROWS],
  ["UTF-16 without a mark", utf16(PEOPLE), {}, PEOPLE_ROWS],
  ["CRLF", PEOPLE.replaceAll("\n", "\r\n"), {}, PEOPLE_ROWS],
  [
    "semicolons",
    PEOPLE.replaceAll(",", ";"),
    {},
    PEOPLE_ROWS.map((row) => row.replaceAll(",", ";")),
  ],
  [
    "tabs",
    PEOPLE.replaceAll(",", "\t"),
    { name: "list.tsv" },
    PEOPLE_ROWS.map((row) => row.replaceAll(",", "\t")),
  ],
  ["a column by name", PEOPLE, { column: "mail" }, PEOPLE_ROWS],
  ["a CSV of another media type", PEOPLE, { type: "application/vnd.ms-excel" }, PEOPLE_ROWS],
  ["text that names a column is a CSV", PEOPLE, { name: "a.txt", column: "Mail" }, PEOPLE_ROWS],
  [
    "another column by name",
    PEOPLE,
    { column: "Name" },
    ["Name,Mail,status", "Ada,ada@x.example,invalid_format", "Bob,nonsense,invalid_format"],
  ],
  [
    "no header",
    "1,a@x.example\n2,b@x.example\n",
    {},
    ["column_1,column_2,status", "1,a@x.example,valid", "2,b@x.example,valid"],
  ],
  [
    "blank cells and duplicates keep their rows",
    "n,mail\n1,a@x.example\n2,\n3,A@x.example\n4\n",
    {},
    ["n,mail,status", "1,a@x.example,valid", "2,,", "3,A@x.example,valid", "4,,"],
  ],
  [
    "formula cells are made harmless",
    "mail,note\na@x.example,=1+1\n-b@x.example,@c\n",
    {},
    ["mail,note,status", "a@x.example,'=1+1,valid", "'-b@x.example,@c,valid"],
  ],
];

test("a CSV comes back with a status beside each row", async (t) => {
  const server = await bulkServer(t);
  for (const [name, content, options, want] of files) {
    await t.test(name, async () => {
      const answer = await upload(server, content, options);
      assert.equal(answer.status, 200, answer.body);
      assert.deepEqual(await rowsOf(server, answer, 2), want);
    });
  }
});

test("quoted cells with delimiters and line breaks come back as they were", async (t) => {
  const server = await bulkServer(t);
  const csv = 'mail,note\r\na@x.example,"one, ""two""\nthree"\r\n"b@x.example\n",x\r\n';
  const { body } = await server.ask(`/api/view/${sessionIn(await upload(server, csv))}/csv`, OWNER);
  assert.ok(body.includes('\r\na@x.example,"one, ""two""\nthree",valid,'));
  assert.ok(body.includes('\r\n"b@x.example\n",x,valid,'));
});

test("a text file is a list like every other", async (t) => {
  const server = await bulkServer(t);
  const text = 'a@x.example, b@x.example\r\nc.example\tA@X.example "q"@x.example';
  const { body } = await upload(server, text, { name: "list.txt", type: "text/plain" });
  const stats = JSON.parse(body) as Record<string, unknown>;
  assert.deepEqual([stats["total"], stats["unique"], stats["valid"]], [5, 4, 4]);
});

test("json gives the results at once", async (t) => {
  const server = await bulkServer(t);
  const { body } = await upload(server, PEOPLE, { json: "1" });
  const read = JSON.parse(body) as { readonly results: Readonly<Record<string, unknown>> };
  assert.deepEqual(Object.keys(read.results), ["ada@x.example", "nonsense"]);
});

test("column and json may stand in the query", async (t) => {
  const server = await bulkServer(t);
  const form = new FormData();
  form.set("file", new Blob([PEOPLE]), "a.csv");
  const { body } = await server.ask("/api/bulk/upload?column=Name&json=1", {
    ...OWNER,
    body: form,
  });
  const read = JSON.parse(body) as { readonly results: Readonly<Record<string, unknown>> };
  assert.deepEqual(Object.keys(read.results), ["Ada", "Bob"]);
});

test("the columns go with the session", async (t) => {
  const server = await bulkServer(t);
  const session = sessionIn(await upload(server, PEOPLE));
  await server.ask(`/api/view/${session}`, { ...OWNER, method: "DELETE" });
  assert.equal((await server.ask(`/api/view/${session}/csv`, OWNER)).status, 404);
});

test("an upload repeated with its Idempotency-Key is answered once more, another one refused", async (t) => {
  const server = await bulkServer(t);
  const headers = { "idempotency-key": "k" };
  const first = await upload(server, PEOPLE, { headers });
  assert.equal((await upload(server, PEOPLE, { headers })).body, first.body);
  assert.equal((await upload(server, `${PEOPLE}x`, { headers })).status, 422);
  assert.equal((await upload(server, PEOPLE, { headers, column: "2" })).status, 422);
});

const TOO_MANY = "Maximum 100000 unique emails allowed. Tried to load 100001.";

/** A column of 120 octets an entry, so that the tier's limit comes after 2,000,000 octets. */
const long = (count: number): string =>
  Array.from(
    { length: count },
    (_, at) => `u${String(at)}@${"x".repeat(60)}.${"y".repeat(40)}.co\n`,
  ).join("");

/** Name, file, options, status and error. */
const refusals: readonly (readonly [string, Content, Upload, number, string])[] = [
  [
    "an open quote",
    'a\n"b@x.example',
    {},
    400,
    "The file has no entries. The quote opened on line 2 is not closed.",
  ],
  [
    "a million columns",
    ",".repeat(1e6),
    {},
    400,
    "No column holds addresses or domains; name it with column.",
  ],
  ["an unknown column", PEOPLE, { column: "phone" }, 400, "There is no column of that name."],
  [
    "no entries in any column",
    "a,b\nc,d\n",
    {},
    400,
    "No column holds addresses or domains; name it with column.",
  ],
  ["an empty file", "", {}, 400, "The file has no entries."],
  ["a header alone", "mail\n", { column: "mail" }, 400, "The file has no entries."],
  ["blank cells alone", "mail\n \n  \n", { column: "mail" }, 400, "The file has no entries."],
  ["an empty list", " \n", { name: "a.txt" }, 400, "The file has no entries."],
  [
    "octets that are not text",
    new Uint8Array([109, 10, 0x82, 0xa0, 0x82, 0xa2]),
    {},
    400,
    "The file looks like text in Shift_JIS; name its encoding (encoding=shift_jis), or convert it first: iconv -f SHIFT_JIS -t UTF-8 FILE > list.csv.",
  ],
  [
    "a cell of 2 MB",
    "a".repeat(2e6),
    {},
    400,
    "The file has no entries. Line 1 has a cell of more than 32768 characters.",
  ],
  ["a column over the tier's limit", long(100_001), {}, 422, TOO_MANY],
];

test("what cannot be read is refused with the reason, and charges nothing", async (t) => {
  const server = await bulkServer(t);
  for (const [name, content, options, status, error] of refusals) {
    await t.test(name, async () => {
      const answer = await upload(server, content, options);
      assert.deepEqual([answer.status, JSON.parse(answer.body)], [status, { error }]);
    });
  }
  assert.equal(await server.stores.unitsUsed(), 0);
});

test("of what stands against a file, what is wrong with the request comes before its number of entries", async (t) => {
  const server = await bulkServer(t);
  const many = long(100_001);
  const ask = async (key: string, content: string): Promise<string> => {
    const { body } = await upload(server, content, { headers: { "idempotency-key": key } });
    return (JSON.parse(body) as { readonly error?: string }).error ?? "answered";
  };
  assert.equal(await ask("k", PEOPLE), "answered");
  assert.equal(await ask("k", many), "Idempotency-Key was used with another body.");
  assert.match(await ask("\t", many), /Idempotency-Key/);
  assert.match(await ask("other", many), /^Maximum 100000 unique emails allowed/);
});

test("owner B's large file is read before owner A's second", async (t) => {
  const read: string[] = [];
  const go: (() => void)[] = [];
  const files = createShares().of("files");
  const server = await bulkServer(t, {
    readLarge: (order, owner) =>
      files.run(owner, async () => {
        read.push(Buffer.from(order.chunks[0] ?? []).toString("utf8", 0, 2));
        await new Promise<void>((resolve) => go.push(resolve));
        return await readFile(order);
      }),
  });
  const waiting = (): number => files.waiting;
  const send = (name: string): Promise<Answer> => {
    const form = new FormData();
    form.set("file", new Blob([`${name}@x.example\n`.repeat(500_000)]), "list.txt");
    return server.ask("/api/bulk/upload", { key: name.slice(0, 1), body: form });
  };
  const answers = [send("a1")];
  await until(() => read.length === 1);
  answers.push(send("a2"));
  await until(() => waiting() === 1);
  answers.push(send("b1"));
  await until(() => waiting() === 2);
  for (let at = 0; at < 3; at += 1) {
    await until(() => go.length > at);
    go[at]?.();
  }
  for (const answer of answers) assert.equal((await answer).status, 200);
  assert.deepEqual(read, ["a1", "b1", "a2"]);
});

test("a column may fill more than 2,000,000 octets", async (t) => {
  const server = await bulkServer(t);
  const csv = long(20_000);
  assert.ok(csv.length > 2_000_000);
  const answer = await upload(server, csv);
  assert.equal((JSON.parse(answer.body) as { email_count: number }).email_count, 20_000);
});

test("large other columns do not count against the column", async (t) => {
  const server = await bulkServer(t);
  const csv = `mail,note\n${`a@x.example,${"n".repeat(1_000)}\n`.repeat(15_000)}`;
  assert.equal((await upload(server, csv)).status, 200);
});

test("what was read of a file counts as its owner's until the answer", async (t) => {
  const begun: (() => void)[] = [];
  const over = (bulk: BulkService): Pick<BulkService, "submit"> => ({
    submit: async (...order) => {
      await new Promise<void>((go) => begun.push(go));
      return bulk.submit(...order);
    },
  });
  const server = await bulkServer(t, { over });
  const wide = `mail,note\n${`a@x.example,${"n".repeat(1_000)}\n`.repeat(15_000)}`;
  const first = upload(server, wide);
  await until(() => begun.length === 1);
  assert.equal((await upload(server, wide)).status, 429);
  begun[0]?.();
  assert.equal((await first).status, 200);
  const again = upload(server, wide);
  await until(() => begun.length === 2);
  begun[1]?.();
  assert.equal((await again).status, 200);
});

const paths = ["/api/bulk/uploads", "/api/bulk/upload/x"];

test("every other path under /api/bulk is unknown", async (t) => {
  const server = await bulkServer(t);
  for (const path of paths) {
    const { status } = await server.ask(path, { ...OWNER, method: "POST" });
    assert.deepEqual([path, status], [path, 404]);
  }
  const { status, headers } = await server.ask("/api/bulk/upload", OWNER);
  assert.deepEqual([status, headers.get("allow")], [405, "POST, OPTIONS"]);
});
