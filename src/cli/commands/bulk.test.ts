import { strict as assert } from "node:assert";
import { join } from "node:path";
import { test } from "node:test";
import { systemFiles } from "../../base/files.ts";
import { recordingTerminal } from "../../../test/process/recording-terminal.ts";
import { folder, MANY } from "../../../test/bulk/bulk-folder.ts";

/** The first columns of a CSV. */
const firstCells = (text: string, count: number): readonly string[] =>
  text
    .split(/\r?\n/)
    .slice(0, -1)
    .map((line) => line.split(",").slice(0, count).join());

const PEOPLE = "Name,Mail\nAda,ada@x.example\nBob,nonsense\nCy,\n";
const PEOPLE_CSV = ["Name,Mail,status", "Ada,ada@x.example,valid", "Bob,nonsense,invalid_format"];

/** Name, input's name and content, further words, and the list that comes out. */
const lists = [
  [
    "a list",
    "in.txt",
    "a@x.example, nonsense\r\nb.example\tc.example",
    [],
    "a@x.example\nb.example\nc.example\n",
  ],
  [
    "duplicates stay, in order",
    "in.txt",
    "b.example\na.example\nb.example\n",
    [],
    "b.example\na.example\nb.example\n",
  ],
  ["a CSV", "in.csv", PEOPLE, ["--format", "list"], "ada@x.example\n"],
  ["a CSV by its look", "in", PEOPLE, ["--format", "list"], "ada@x.example\n"],
  [
    "a CSV by its column",
    "in.csv",
    "a,b\nx.example,y.example\n",
    ["--format", "list", "--column", "b"],
    "y.example\n",
  ],
  [
    "NDJSON",
    "in.ndjson",
    '{"email":"a@x.example"}\n"b.example"\n\n{"email":null}\n',
    ["--format", "list"],
    "a@x.example\nb.example\n",
  ],
  [
    "NDJSON by its member",
    "in.jsonl",
    '{"email":"a@x.example","site":"s.example"}',
    ["--format", "list", "--column", "site"],
    "s.example\n",
  ],
  [
    "a list of lines with commas",
    "in",
    "a@x.example,b@x.example\nc.example",
    [],
    "a@x.example\nb@x.example\nc.example\n",
  ],
  ["an empty file", "in.txt", "", [], ""],
  [
    "UTF-16",
    "in.txt",
    Buffer.from("\ufeffa@x.example\nb.example", "utf16le"),
    [],
    "a@x.example\nb.example\n",
  ],
] as const;

for (const [name, file, content, words, want] of lists) {
  test(`the valid entries of ${name}`, async (t) => {
    const { put, path, read, run, names } = await folder(t);
    const ran = await run([await put(file, content), "--out", path("out"), ...words]);
    assert.equal(ran.code, 0, ran.err);
    assert.equal(await read("out"), want);
    assert.deepEqual(await names(), [file, "out"], "nothing is left beside the output");
  });
}

test("a CSV keeps its columns and gets a status beside each row", async (t) => {
  const { put, path, read, run } = await folder(t);
  await run([await put("in.csv", PEOPLE), "--out", path("out.csv")]);
  assert.deepEqual(firstCells(await read("out.csv"), 3), [...PEOPLE_CSV, "Cy,,"]);
});

test("a list becomes a CSV by the name of the output", async (t) => {
  const { put, path, read, run } = await folder(t);
  await run([await put("in.txt", "=1@x.example x"), "--out", path("out.csv")]);
  assert.deepEqual(firstCells(await read("out.csv"), 2), [
    "entry,status",
    "'=1@x.example,valid",
    "x,invalid_format",
  ]);
});

test("NDJSON keeps every object as it was, with the result as its last member", async (t) => {
  const { put, path, read, run } = await folder(t);
  const lines = ['{ "id": 1.0, "email":"a@x.example", "__proto__": {} }', '"b"', "{}", ""];
  await run([await put("in.ndjson", lines.join("\n")), "--out", path("out.ndjson")]);
  const out = (await read("out.ndjson")).split("\n");
  assert.ok(
    out[0]?.startsWith(
      '{ "id": 1.0, "email":"a@x.example", "__proto__": {} ,"result":{"format":true,',
    ),
  );
  assert.ok(
    out[1]?.startsWith('{"id":"","email":"b","__proto__":"","result":{"format":false,'),
    out[1],
  );
  assert.equal(out[2], '{"result":null}');
  for (const line of out.slice(0, -1)) JSON.parse(line);
});

test("CSV keeps its semicolons and its byte order mark", async (t) => {
  const { put, path, read, run } = await folder(t);
  const csv = '\ufeffmail;name\na@x.example;"Ada; Countess"\n';
  await run([await put("in.csv", csv), "--out", path("out.csv")]);
  const [head = "", row = ""] = (await read("out.csv")).split("\n");
  assert.ok(head.startsWith("\ufeffmail;name;status;format;"));
  assert.ok(row.startsWith('a@x.example;"Ada; Countess";valid;true;'));
});

test("a CSV becomes NDJSON with its columns as members", async (t) => {
  const { put, path, read, run } = await folder(t);
  await run([await put("in.csv", PEOPLE), "--out", path("out.ndjson")]);
  const [first = "", , third = ""] = (await read("out.ndjson")).split("\n");
  assert.ok(first.startsWith('{"Name":"Ada","Mail":"ada@x.example","result":{"format":true,'));
  assert.equal(third, '{"Name":"Cy","Mail":"","result":null}');
});

test("the summary counts every entry once, and the exit code says that DNS did not answer", async (t) => {
  const { put, path, run } = await folder(t);
  const text = "a.example silent.example nonsense b@x.example";
  const { code, err } = await run([await put("in.txt", text), "--out", path("out")]);
  assert.equal(code, 3);
  assert.match(
    err,
    /^4 entries: 2 valid, 0 disposable, 1 without mail server \(of which DNS did not answer for 1: status unknown, not in a list of the valid ones\), 1 malformed; in 0:0\d\.\ngatepost: DNS did not answer for 1 of the entries/,
  );
});

/** Name, input, words behind it, exit code and what is complained of. */
const failures = [
  ["a million columns", ",".repeat(1e6), [], 3, /No column holds addresses or domains/],
  ["an unknown column", PEOPLE, ["--column", "phone"], 3, /There is no column of that name/],
  ["no entries", "a,b\nc,d\n", [], 3, /No column holds addresses or domains/],
  [
    "octets that are not text",
    new Uint8Array([0xff, 1, 2]),
    [],
    3,
    /not text in UTF-8, UTF-16 or Windows-1252/,
  ],
  ["an unknown format", PEOPLE, ["--format", "xml"], 2, /xml/],
] as const;

for (const [name, content, words, code, complaint] of failures) {
  test(`a file that cannot be checked says why: ${name}`, async (t) => {
    const { put, path, run } = await folder(t);
    const ran = await run([await put("in.csv", content), "--out", path("out.csv"), ...words]);
    assert.equal(ran.code, code);
    assert.match(ran.err, complaint);
  });
}

test("a line that is not JSON is a row with a reason, and an unknown member is refused", async (t) => {
  const { put, path, read, run } = await folder(t);
  const file = await put(
    "in.jsonl",
    '{"email":"a@x.example"}\n\nnonsense\n{"email":"b@x.example"}\n',
  );
  assert.equal((await run([file, "--out", path("out.jsonl")])).code, 0);
  const rows = (await read("out.jsonl")).trim().split("\n");
  assert.equal(rows.length, 3);
  assert.match(rows[1] ?? "", /"nonsense".*"not_read".*Line 3 is not a JSON object or text\./);
  const ran = await run([file, "--column", "mail"]);
  assert.equal(ran.code, 3);
  assert.match(ran.err, /There is no column of that name/);
});

test("a workbook that is none, and another spreadsheet as output, are refused", async (t) => {
  const { put, path, run } = await folder(t);
  const broken = await run([await put("in.xlsx", "PK\u0003\u0004 no workbook")]);
  assert.equal(broken.code, 3);
  const ran = await run([await put("in.csv", PEOPLE), "--out", path("o.ods")]);
  assert.equal(ran.code, 2);
});

test("a missing file and an output that is the input are refused before anything is written", async (t) => {
  const { put, path, run, read } = await folder(t);
  const missing = await run([path("none.txt"), "--out", path("out")]);
  assert.deepEqual([missing.code, /no such file or folder; check/.test(missing.err)], [3, true]);
  const file = await put("in.txt", "a.example");
  const same = await run([file, "--out", join(path("."), "in.txt")]);
  assert.deepEqual([same.code, /--out must not be the input file/.test(same.err)], [2, true]);
  assert.equal(await read("in.txt"), "a.example");
});

test("an output that exists is kept unless --force replaces it", async (t) => {
  const { put, path, run, read } = await folder(t);
  const file = await put("in.txt", "a.example");
  await put("out", "precious and longer than the result");
  const refused = await run([file, "--out", path("out")]);
  assert.equal(refused.code, 2);
  assert.match(refused.err, /out exists; choose another name, or give --force to replace it/);
  assert.equal(await read("out"), "precious and longer than the result");
  assert.equal((await run([file, "--out", path("out"), "--force"])).code, 0);
  assert.equal(await read("out"), "a.example\n");
  assert.equal((await run([file, "--out", "/dev/null"])).code, 0, "a device may be written to");
});

test("an interrupted run ends with what was checked", async (t) => {
  const { put, path, run, read } = await folder(t);
  const file = await put("in.txt", MANY.join("\n"));
  let stop = (): void => undefined;
  const files = {
    ...systemFiles,
    write: async (name: string) => {
      const writer = await systemFiles.write(name, "refused");
      return { ...writer, write: (text: string) => (stop(), writer.write(text)) };
    },
  };
  const onInterrupt = (ask: () => void): (() => void) => {
    stop = ask;
    return () => undefined;
  };
  const ran = await run([file, "--out", path("out")], { files, onInterrupt });
  assert.equal(ran.code, 3);
  const written = (await read("out")).split("\n").slice(0, -1);
  assert.match(ran.err, new RegExp(`stopped after ${written.length.toLocaleString("en-US")} rows`));
  assert.deepEqual(written, MANY.slice(0, written.length));
});

/** Name, path in the folder as input and as output, and the words. */
const paths = [
  ["a missing input", "none", "out", /none: no such file or folder; check the name/],
  ["a folder as input", ".", "out", /it is a folder; name a file/],
  ["a folder as output", "in.txt", ".", /it is a folder; name a file/],
  ["an output in no folder", "in.txt", "none/out", /none\/out: no such file or folder/],
  ["an output below a file", "in.txt", "in.txt/out", /a part of this path is a file/],
] as const;

for (const [name, input, output, words] of paths) {
  test(`a path that cannot be used is named, with what to do: ${name}`, async (t) => {
    const { put, path, run } = await folder(t);
    await put("in.txt", "a.example");
    const ran = await run([path(input), "--out", path(output)]);
    assert.equal(ran.code, 3);
    assert.match(ran.err, words);
    assert.equal(ran.err.trim().split("\n").length, 1);
  });
}

test("a full disk is one sentence that names the output", async (t) => {
  const { put, run } = await folder(t);
  const ran = await run([await put("in.txt", "a.example"), "--out", "/dev/full"]);
  assert.deepEqual(
    [ran.code, ran.err],
    [3, "gatepost: /dev/full: no space is left; free some, or write elsewhere\n"],
  );
});

test("a terminal shows how far it is, and is clean afterwards", async (t) => {
  const { put, path, run } = await folder(t);
  const shown: string[] = [];
  const err = (text: string) => void shown.push(text);
  const terminal = recordingTerminal({ err, colours: true, interactive: true });
  await run([await put("in.txt", MANY.join("\n")), "--out", path("out")], { terminal });
  assert.match(
    shown.at(0) ?? "",
    /^\r\[#+-*\] +\d+ % {2}[\d,]+ entries {2}[\d,]+\/s {2}\d:\d\d left/,
  );
  assert.ok(shown.every((text) => !text.startsWith("\r") || text.length <= 81));
  assert.match(shown.at(-3) ?? "", /^\r +\r$/);
});

test("memory holds some thousand entries, however many there are", async (t) => {
  const { run, path } = await folder(t);
  let read = 0;
  let written = 0;
  let most = 0;
  async function* endless(): AsyncGenerator<Uint8Array> {
    for (; read < 30_000; read += 1_000) {
      most = Math.max(most, read - written);
      yield await Promise.resolve(Buffer.from("entry@x.example\n".repeat(1_000)));
    }
  }
  const files = {
    ...systemFiles,
    stat: (name: string) =>
      Promise.resolve(name === "in" ? { id: "in", sizeBytes: 3.2e6, isFile: true } : undefined),
    read: endless,
    write: () =>
      Promise.resolve({
        write: (text: string) => {
          written += text.split("\n").length - 1;
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      }),
  };
  assert.equal((await run(["in", "--out", path("out")], { files })).code, 0);
  assert.equal(written, 30_000);
  assert.ok(most <= 10_000, `${String(most)} entries were read and not written`);
});
