import { strict as assert } from "node:assert";
import { readFileSync, readdirSync } from "node:fs";
import { test, type TestContext } from "node:test";
import { folder } from "../../../test/bulk/bulk-folder.ts";
import { type BulkServer, bulkServer, sessionIn } from "../../../test/bulk/bulk-http.ts";
import { OWNER, type Upload, upload } from "../../../test/bulk/upload.ts";
import { zoneLookup } from "../../../test/dns/zone-lookup.ts";
import { until } from "../../../test/time/until.ts";
import { Refusal } from "../../base/refusals.ts";
import type { ListOptions } from "../../bulk/files/list-file.ts";
import { ListReader } from "../../bulk/lists/list-reader.ts";
import type { ListOrder, ListSource } from "../../bulk/lists/list-view.ts";
import { packFile } from "../../bulk/lists/list-store.ts";

/** What a door makes of a file: the valid entries, each once, or why it is refused. */
type Outcome = readonly string[] | string;

type Options = Pick<Upload, "column" | "encoding">;

const FOLDER = new URL("../../../../test/fixtures/lists/", import.meta.url);
const lookup = zoneLookup({
  "good.test": { mx: ["10 mx.good.test"] },
  "mx.good.test": { a: ["203.0.113.5"] },
});

const octetsOf = (name: string): Uint8Array<ArrayBuffer> =>
  new Uint8Array(readFileSync(new URL(name, FOLDER)));

const once = (entries: readonly string[]): readonly string[] => [...new Set(entries)];

async function byUpload(server: BulkServer, name: string, options: Options): Promise<Outcome> {
  const answer = await upload(server, octetsOf(name), { name, ...options });
  if (answer.status >= 400) return (JSON.parse(answer.body) as { error: string }).error;
  const valid = await until(async () => {
    const view = await server.ask(`/api/view/${sessionIn(answer)}`, OWNER);
    return view.headers.get("content-type")?.startsWith("text/plain") === true ? view : undefined;
  });
  return once(valid.body.split("\n"));
}

async function byCommand(t: TestContext, name: string, options: Options): Promise<Outcome> {
  const { path, put, read, run } = await folder(t);
  const file = await put(name, octetsOf(name));
  const words = Object.entries(options).flatMap(([option, value]) => [`--${option}`, value]);
  const out = path("out.txt");
  const { code, err } = await run([file, "--format", "list", "--out", out, ...words], { lookup });
  if (code !== 0) return err.slice(err.indexOf(`${file}: `) + `${file}: `.length).trimEnd();
  return once((await read("out.txt")).trimEnd().split("\n"));
}

async function listOf(
  octets: Uint8Array,
  options: ListOptions,
): Promise<readonly [ListOrder, ListSource]> {
  const parts = await packFile([octets]);
  const source: ListSource = {
    part: (number) => Promise.resolve(parts[number]),
    results: () => Promise.resolve(undefined),
    fixes: () => Promise.resolve(new Set()),
  };
  return [{ owner: "a", list: "l", version: "1", options, octets: 1, sessions: [] }, source];
}

/** What the dashboard would have checked. */
async function byDashboard(name: string, options: Options): Promise<Outcome> {
  const reader = new ListReader();
  const [order, source] = await listOf(octetsOf(name), { name, ...options });
  try {
    const { open } = await reader.facts(order, source);
    const query = { class: "unchecked", why: "", text: "", from: 0, count: 1_000 } as const;
    const { rows } = await reader.rows({ ...order, query }, source);
    const entries = once(rows.flatMap(({ entry }) => entry.split(", ")));
    assert.equal(open, entries.length);
    return entries;
  } catch (error) {
    if (error instanceof Refusal) return error.message;
    throw error;
  }
}

const OPTIONS: Readonly<Record<string, Options>> = { "ids.csv": { column: "2" } };

/** What the dashboard reads of further columns with addresses; an upload and the command read one column. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  "googlecontacts.csv": ["jo@work.test"],
};

const REFUSED = ["excelize-pass.xlsx", "formula-nocache.xlsx", "html-table.xls", "sjis.csv"];

const cases: readonly (readonly [name: string, options: Options])[] = [
  ...readdirSync(FOLDER)
    .filter((name) => name !== "programs")
    .map((name) => [name, OPTIONS[name] ?? {}] as const),
  ["sjis.csv", { encoding: "shift_jis" }],
  ["gbk.csv", { encoding: "gbk" }],
  ["gbk.csv", { encoding: "x-none" }],
];

test("upload, command and dashboard read the same of a file", async (t) => {
  const server = await bulkServer(t, { lookup });
  server.worker().start();
  for (const [name, options] of cases) {
    await t.test([name, ...Object.values(options)].join(" "), async (t) => {
      const uploaded = await byUpload(server, name, options);
      assert.deepEqual(await byCommand(t, name, options), uploaded);
      const further = FURTHER[name] ?? [];
      const shown = await byDashboard(name, options);
      if (typeof shown === "string") assert.equal(shown, uploaded);
      else {
        assert.deepEqual(
          shown.filter((entry) => !further.includes(entry)),
          uploaded,
        );
        assert.ok(further.every((entry) => shown.includes(entry)));
      }
      const { encoding } = options;
      const isRefused = encoding === "x-none" || (encoding === undefined && REFUSED.includes(name));
      assert.equal(typeof uploaded === "string", isRefused, String(uploaded));
      if (!isRefused) assert.match(`${uploaded.toString()},`, /^(?:[\w.]+@good\.test,)+$/);
    });
  }
});
