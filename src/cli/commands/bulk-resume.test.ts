import { strict as assert } from "node:assert";
import { stat, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { systemFiles } from "../../adapters/system/files.ts";
import { type Ran, type Folder, folder, MANY } from "../../../test/bulk/bulk-folder.ts";

/** Runs into `out` and interrupts once some of it was written. */
async function interrupted({ run, path }: Folder, file: string, out: string): Promise<Ran> {
  let stop = (): void => undefined;
  const files = {
    ...systemFiles,
    write: async (name: string, keepBytes: number) => {
      const writer = await systemFiles.write(name, keepBytes);
      return {
        ...writer,
        write: (text: string) => {
          stop();
          return writer.write(text);
        },
      };
    },
  };
  const onInterrupt = (ask: () => void): (() => void) => {
    stop = ask;
    return () => undefined;
  };
  return run([file, "--out", path(out)], { files, onInterrupt });
}

for (const out of ["out.txt", "out.csv", "out.ndjson"]) {
  test(`an interrupted run goes on where it stopped, and comes to the same: ${out}`, async (t) => {
    const here = await folder(t);
    const file = await here.put("in.txt", MANY.join("\n"));
    await here.run([file, "--out", here.path(`whole-${out}`)]);
    const whole = await here.read(`whole-${out}`);
    const first = await interrupted(here, file, out);
    assert.equal(first.code, 3);
    assert.match(first.err, /stopped after [\d,]+ entries\. Run the same command again to resume/);
    const partBytes = (await stat(here.path(out))).size;
    assert.ok(partBytes > 0 && partBytes < Buffer.byteLength(whole));
    const second = await here.run([file, "--out", here.path(out)]);
    assert.equal(second.code, 0);
    assert.match(second.err, /^Resuming after [\d,]+ entries\.\n12,000 entries: 12,000 valid/);
    assert.equal(await here.read(out), whole);
    assert.ok(!(await here.names()).some((name) => name.includes("resume")));
  });
}

test("what a killed run wrote behind its last note is checked again, not doubled", async (t) => {
  const here = await folder(t);
  const file = await here.put("in.txt", MANY.join("\n"));
  await interrupted(here, file, "out");
  await writeFile(here.path("out"), `${await here.read("out")}half a li`);
  await here.run([file, "--out", here.path("out")]);
  assert.equal(await here.read("out"), `${MANY.join("\n")}\n`);
});

/** Name, and what happens between an interrupted run and the next. */
const changes: readonly (readonly [string, (here: Folder) => Promise<readonly string[]>])[] = [
  ["another input", async ({ put }) => (await put("in.txt", "a.example"), [])],
  ["another format", () => Promise.resolve(["--format", "csv"])],
  ["an output that was cut", async ({ put }) => (await put("out", "x"), [])],
  ["a state file that is not JSON", async ({ put }) => (await put("out.resume.json", "{"), [])],
  ["a note of nothing", async ({ put }) => (await put("out.resume.json", "null"), [])],
];

for (const [name, change] of changes) {
  test(`a run that is not the same does not go on: ${name}`, async (t) => {
    const here = await folder(t);
    const file = await here.put("in.txt", MANY.join("\n"));
    await interrupted(here, file, "out");
    const before = await here.names();
    const words = await change(here);
    const { code, err } = await here.run([file, "--out", here.path("out"), ...words]);
    assert.equal(code, 3);
    assert.match(err, /out\.resume\.json belongs to another run, or its output has changed/);
    assert.deepEqual(await here.names(), before);
  });
}
