// A reporter beside the one for people: when a file of tests is given up after its time, it says which of its
// tests had not come to an end, which the file itself can no longer say. See test.mjs.

/** Tests under way, by where they stand and their names. */
const open = new Map();
const keyOf = ({ file, line, column, nesting, name }) =>
  JSON.stringify([file, line, column, nesting, name]);
const isFile = ({ file, name }) => file === name;

export default async function* openTests(source) {
  for await (const { type, data } of source) {
    if (type === "test:dequeue" && !isFile(data)) open.set(keyOf(data), data);
    if (type === "test:complete") open.delete(keyOf(data));
    if (type !== "test:fail" || !isFile(data)) continue;
    if (data.details?.error?.failureType !== "testTimeoutFailure") continue;
    yield `# ${data.name} was given up. Still under way, here or in the file beside it:\n`;
    for (const [key, { name, file }] of open) {
      yield `#   ${name} (${file})\n`;
      if (file === data.file) open.delete(key);
    }
  }
}
