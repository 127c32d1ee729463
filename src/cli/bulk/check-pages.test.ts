import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { FullResult } from "../../core/validate/result.ts";
import { checkPages } from "./check-pages.ts";
import type { ListPage } from "../../bulk/files/list-file.ts";

const RESULT: FullResult = {
  format: true,
  domain: "x.example",
  disposable: false,
  dns: true,
  confidence: 0,
  whitelist: false,
  signals: [],
  role: false,
  free: false,
};

const SHAPE = {
  form: "list",
  header: ["entry"],
  column: "column 1",
  at: 0,
  others: [],
  encoding: "utf-8",
  delimiter: ",",
} as const;

async function* onePage(count: number): AsyncGenerator<ListPage> {
  const names = Array.from({ length: count }, (_, at) => `d${String(at)}.example`);
  const rows = names.map((name) => ({ cells: [name], line: 1, entries: [name] }));
  yield await Promise.resolve({ shape: SHAPE, rows });
}

test("a check that fails while later entries wait for room is reported, not an unhandled rejection", async () => {
  const checker = {
    check: (entry: string) =>
      entry === "d3.example" ? Promise.reject(new Error("a bug")) : Promise.resolve(RESULT),
    room: () => new Promise<void>((resolve) => setImmediate(resolve)),
    close: () => Promise.resolve(),
  };
  const stop = new AbortController().signal;
  const pages = checkPages(onePage(150), checker, stop);
  await assert.rejects(async () => {
    for await (const page of pages) assert.ok(page);
  }, /a bug/);
});
