import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { readDocument, tableUnder } from "./docs-tables.ts";

const root = new URL("../../../", import.meta.url);

interface Package {
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly os?: readonly string[];
  readonly cpu?: readonly string[];
  readonly libc?: readonly string[];
  readonly hasInstallScript?: boolean;
}

const { packages } = JSON.parse(readFileSync(new URL("package-lock.json", root), "utf8")) as {
  readonly packages: Readonly<Record<string, Package>>;
};
const ofProgram = Object.entries(packages)
  .filter(([path, { dev, devOptional }]) => path !== "" && dev !== true && devOptional !== true)
  .map(([path, facts]) => ({ name: path.replace(/^.*node_modules\//, ""), ...facts }));

const ARGON = "@node-rs/argon2";
const SQLITE = "@photostructure/sqlite";

const SYSTEMS = [
  [/^Linux with glibc/, "linux", "glibc"],
  [/^Linux with musl/, "linux", "musl"],
  [/^macOS/, "darwin", undefined],
  [/^Windows/, "win32", undefined],
  [/^FreeBSD/, "freebsd", undefined],
] as const;

function hasBinaries(os: string, cpu: string, libc: string | undefined): boolean {
  const argon = ofProgram.some(
    (each) =>
      each.name.startsWith(`${ARGON}-`) &&
      each.os?.includes(os) === true &&
      each.cpu?.includes(cpu) === true &&
      (libc === undefined || each.libc?.includes(libc) === true),
  );
  const file = `node_modules/${SQLITE}/prebuilds/${os}-${cpu}/@photostructure+sqlite.${libc ?? "glibc"}.node`;
  return argon && existsSync(new URL(file, root));
}

test("docs/operations/platforms.md says of each platform what its packages bring", () => {
  const rows = tableUnder(readDocument("docs/operations/platforms.md"), "## Where it runs");
  assert.equal(rows.length, 9);
  for (const [system = "", machine = "", said] of rows) {
    const [, os, libc] = SYSTEMS.find(([name]) => name.test(system)) ?? assert.fail(system);
    const cpu = machine.startsWith("arm64") ? "arm64" : "x64";
    assert.equal(said, hasBinaries(os, cpu, libc) ? "yes" : "no", `${system}, ${machine}`);
  }
});

test("only the two packages that docs/operations/platforms.md names have compiled code", () => {
  const compiled = ofProgram
    .filter(({ os, cpu, hasInstallScript }) => os ?? cpu ?? hasInstallScript)
    .map(({ name }) => name);
  assert.deepEqual(
    [...new Set(compiled.map((name) => name.replace(/^(@node-rs\/argon2)-.*/, "$1")))].sort(),
    [ARGON, SQLITE],
  );
});
