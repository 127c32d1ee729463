import { strict as assert } from "node:assert";
import { test } from "node:test";
import { bulkServer, sessionIn } from "../../../test/bulk/bulk-http.ts";
import { askRaw, rawClient } from "../../../test/http/raw-http.ts";
import { OWNER, upload } from "../../../test/bulk/upload.ts";

const PEOPLE = "Name,Mail\nAda,ada@x.example\nBob,nonsense\n";

test("a table comes back with the result beside each row", async (t) => {
  const server = await bulkServer(t);
  const rows = Array.from({ length: 90 }, (_, at) => `P${String(at)},d${String(at % 60)}.example`);
  const sent = await upload(server, `Name,Site\n${rows.join("\n")}\nBlank,\nOdd,nonsense\n`);
  const { body } = await server.ask(`/api/view/${sessionIn(sent)}/csv`, OWNER);
  const cells = body.split("\r\n").map((row) => row.split(",").slice(0, 3).join());
  const want = rows.map((row) => `${row},valid`);
  assert.deepEqual(cells.slice(1), [...want, "Blank,,", "Odd,nonsense,invalid_format", ""]);
});

test("a file over 20 MB is refused, announced or not", async (t) => {
  const server = await bulkServer(t);
  const large = await upload(server, new Uint8Array(20_000_001).fill(97), { name: "a.txt" });
  assert.equal(large.status, 413);
  assert.match(large.body, /"The upload has 20,000,\d{3} octets; the limit is 20,000,000\."/);
  const announced = await askRaw(
    server.port,
    "POST /api/bulk/upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n" +
      "Content-Length: 30000000\r\n\r\n",
  );
  assert.equal(announced.status, 413);
  assert.match(announced.body, /has 30,000,000 octets/);
});

const part = (head: string, body: string): string => `--x\r\n${head}\r\n\r\n${body}\r\n`;
const FILE = 'Content-Disposition: form-data; name="file"; filename="a.csv"';

/** Name, content type, body, status and error. */
const bodies = [
  [
    "another media type",
    "text/csv",
    "a@x.example",
    415,
    "Content-Type must be multipart/form-data.",
  ],
  [
    "a form",
    "application/x-www-form-urlencoded",
    "file=a",
    415,
    "Content-Type must be multipart/form-data.",
  ],
  ["no boundary", "multipart/form-data", "--x--", 400, "The multipart body has no boundary."],
  [
    "no file",
    "multipart/form-data; boundary=x",
    `${part('Content-Disposition: form-data; name="column"', "a")}--x--\r\n`,
    400,
    "Missing parameter: file.",
  ],
  [
    "no part at all",
    "multipart/form-data; boundary=x",
    "--x--\r\n",
    400,
    "Missing parameter: file.",
  ],
  ["nothing", "multipart/form-data; boundary=x", "", 400, "The multipart body is broken."],
  [
    "no end",
    "multipart/form-data; boundary=x",
    part(FILE, "a@x.example"),
    400,
    "The multipart body is broken.",
  ],
  ["garbage", "multipart/form-data; boundary=x", "garbage", 400, "The multipart body is broken."],
  [
    "two files",
    "multipart/form-data; boundary=x",
    `${part(FILE, "a@x.example")}${part(FILE, "b")}--x--\r\n`,
    400,
    "Send one file, and column, sheet, encoding and json only.",
  ],
  [
    "a thousand fields",
    "multipart/form-data; boundary=x",
    `${part('Content-Disposition: form-data; name="a"', "a").repeat(1_000)}--x--\r\n`,
    400,
    "Send one file, and column, sheet, encoding and json only.",
  ],
] as const;

test("broken multipart is refused with the reason", async (t) => {
  const server = await bulkServer(t);
  for (const [name, type, body, status, error] of bodies) {
    await t.test(name, async () => {
      const answer = await server.ask("/api/bulk/upload", {
        ...OWNER,
        headers: { "content-type": type },
        body,
      });
      assert.deepEqual([answer.status, JSON.parse(answer.body)], [status, { error }]);
    });
  }
});

test("a client that goes away in the middle of its file leaves the server well", async (t) => {
  const server = await bulkServer(t);
  const client = rawClient(server.port);
  client.write(
    "POST /api/bulk/upload HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n" +
      `Content-Length: 100000\r\n\r\n--x\r\n${FILE}\r\n\r\na@x.example\n`,
  );
  client.destroy();
  await client.closed;
  assert.equal((await upload(server, PEOPLE)).status, 200);
  assert.deepEqual(
    server.stores.log.lines.filter((line) => line.startsWith("error")),
    [],
  );
});
