import { strict as assert } from "node:assert";
import { test } from "node:test";
import { type FeedFiles, FILE_OCTETS_MAX, type FeedFile } from "../../../src/lists/feed-files.ts";
import type { Make } from "../contract.ts";

const file = (version: string, content = [1, 0, 255]): FeedFile => ({
  name: "ded.list",
  version,
  content: Uint8Array.from(content),
  changedAtMs: 1_800_000_000_000,
});

/** The contract of every store of shared list files. `make` returns an empty one. */
export function feedFilesContract(name: string, make: Make<FeedFiles>): void {
  const check = (rule: string, run: (files: FeedFiles) => Promise<void>) =>
    void test(`${name}: ${rule}`, async (t) => run(await make(t)));

  check("a file is returned octet for octet, with its version among the others", async (files) => {
    assert.deepEqual(await files.read("ded.list"), []);
    assert.equal(await files.write(file("v1"), undefined), true);
    await files.write({ ...file("w1"), name: "castle.list" }, undefined);
    const [read] = await files.read("absent.list", "ded.list");
    assert.ok(read !== undefined);
    assert.deepEqual({ ...read, content: Uint8Array.from(read.content) }, file("v1"));
    assert.deepEqual(
      [...(await files.versions())].sort(([a], [b]) => (a < b ? -1 : 1)),
      [
        ["castle.list", "w1"],
        ["ded.list", "v1"],
      ],
    );
  });

  check("a writer that knows an older version writes nothing", async (files) => {
    await files.write(file("v1"), undefined);
    assert.equal(await files.write(file("v2"), undefined), false);
    assert.equal(await files.write(file("v2"), "v0"), false);
    assert.equal(await files.write({ ...file("v2"), name: "new.list" }, "v1"), false);
    assert.deepEqual([...(await files.versions())], [["ded.list", "v1"]]);
    assert.equal(await files.write(file("v2", [2]), "v1"), true);
    assert.deepEqual([...((await files.read("ded.list"))[0]?.content ?? [])], [2]);
  });

  check("one of many writers over the same version succeeds", async (files) => {
    const versions = Array.from({ length: 20 }, (_, n) => `v${String(n)}`);
    const made = await Promise.all(versions.map((each) => files.write(file(each), undefined)));
    assert.equal(made.filter((isDone) => isDone).length, 1);
    const [[, first] = []] = [...(await files.versions())];
    const next = await Promise.all(
      versions.map((each) => files.write(file(`next ${each}`), first)),
    );
    assert.equal(next.filter((isDone) => isDone).length, 1);
  });

  check("a file that is too large is refused", async (files) => {
    const content = new Uint8Array(FILE_OCTETS_MAX + 1);
    await assert.rejects(files.write({ ...file("v1"), content }, undefined), /octets/);
    assert.equal((await files.versions()).size, 0);
  });
}
