// A reporter that writes one JSON: how many tests passed, failed and were skipped, and in which compiled files one
// failed. A test's `file` is its source, which may be a contract shared by many files; only the end of a
// compiled file identifies it.
import { relative } from "node:path";

export default async function* tally(source) {
  const sum = { passed: 0, failed: 0, skipped: 0, files: [] };
  for await (const { type, data } of source) {
    const isFile = data.name === data.file;
    if (type === "test:complete" && isFile && !data.details.passed) {
      sum.files.push(relative(".", data.file));
    }
    if (type === "test:fail") sum.failed += 1;
    if (type === "test:pass" && !isFile) sum[data.skip === undefined ? "passed" : "skipped"] += 1;
  }
  yield JSON.stringify(sum);
}
