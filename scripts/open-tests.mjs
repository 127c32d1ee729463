// A second reporter: when a test file exceeds its time limit, it prints which of its
// tests had not finished, which the file itself can no longer report. See test.mjs.

/** Running tests, by location and name. */
const open = new Map();
const keyOf = ({ file, line, column, nesting, name }) =>
  JSON.stringify([file, line, column, nesting, name]);
const isFile = ({ file, name }) => file === name;
const hasTimedOut = ({ details }) => details?.error?.failureType === "testTimeoutFailure";

export default async function* openTests(source) {
  for await (const { type, data } of source) {
    if (type === "test:dequeue" && !isFile(data)) open.set(keyOf(data), data);
    if (type === "test:complete") open.delete(keyOf(data));
    if (type !== "test:fail" || !isFile(data) || !hasTimedOut(data)) continue;
    yield `# ${data.name} exceeded its time limit. Still running, here or in the parallel file:\n`;
    for (const [key, { name, file }] of open) {
      yield `#   ${name} (${file})\n`;
      if (file === data.file) open.delete(key);
    }
  }
}
