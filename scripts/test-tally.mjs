// A reporter that writes one JSON: how many tests passed, failed and were skipped, in which compiled files one failed, the
// names of those, and the seconds of each file. A test's `file` is its source, which may be a contract shared by many files;
// only the end of a compiled file identifies it.
import { relative } from "node:path";

/** A suite fails with one of its tests, which is named by itself. */
const isParent = ({ details }) => details?.error?.failureType === "subtestsFailed";

export default async function* tally(source) {
  const sum = { passed: 0, failed: 0, skipped: 0, files: [], names: [], seconds: {} };
  for await (const { type, data } of source) {
    const isFile = data.name === data.file;
    if (type === "test:complete" && isFile) {
      const file = relative(".", data.file);
      if (!data.details.passed) sum.files.push(file);
      sum.seconds[file] = Math.round(data.details.duration_ms / 1_000);
    }
    if (type === "test:fail") {
      sum.failed += 1;
      const [name] = data.name.split("\n");
      if (!isFile && !isParent(data)) sum.names.push(`${relative(".", data.file)}: ${name}`);
    }
    if (type === "test:pass" && !isFile) sum[data.skip === undefined ? "passed" : "skipped"] += 1;
  }
  yield JSON.stringify(sum);
}
