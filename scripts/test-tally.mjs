// A reporter that writes one JSON: of each compiled test file, how many tests passed, failed and were skipped.
import { join, relative } from "node:path";

/** Source maps name a test's file by its source, a file that fails as a whole has its own name. */
function compiled(path) {
  const name = relative(".", path);
  return name.endsWith(".ts") ? join("dist", name.replace(/ts$/, "js")) : name;
}

export default async function* tally(source) {
  const files = {};
  const of = (path) => (files[compiled(path)] ??= { passed: 0, failed: 0, skipped: 0 });
  for await (const { type, data } of source) {
    if (type === "test:fail") of(data.file).failed += 1;
    if (type === "test:pass" && data.name !== data.file)
      of(data.file)[data.skip === undefined ? "passed" : "skipped"] += 1;
  }
  yield JSON.stringify(files);
}
