// Makes the folder of a release: `npm run release [-- FOLDER]`. Everything that the documents install is in it; nothing is uploaded.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const folder = resolve(process.argv[2] ?? "release");
if (existsSync(folder) && readdirSync(folder).length > 0) {
  console.error(`${folder}: it is not empty; delete it, or name another folder`);
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

const run = (command, words) =>
  execFileSync(command, words, { cwd: root, encoding: "utf8", maxBuffer: 64 * 1_048_576 });

// The server, `gatepost-light` and `gatepost-client`. Packing builds each.
run("npm", ["pack", "--pack-destination", folder]);
for (const part of ["packages/light", "clients/typescript"]) {
  run("npm", ["pack", `--workspace=${part}`, "--pack-destination", folder]);
}
/** Of what git has at this commit. */
const archive = (name, tree, prefix = "") =>
  run("git", [
    "archive",
    `--output=${join(folder, name)}`,
    ...(prefix === "" ? [] : [`--prefix=${prefix}/`]),
    tree,
  ]);
// Built from a copy, because the build leaves folders beside its sources.
const python = mkdtempSync(join(tmpdir(), "gatepost-python-"));
run("git", ["archive", `--output=${join(python, "sources.tar")}`, "HEAD:clients/python"]);
run("tar", ["-xf", join(python, "sources.tar"), "-C", python]);
run("python3", ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, python]);
rmSync(python, { recursive: true });

archive(`gatepost-php-${version}.zip`, "HEAD:clients/php");
archive(`gatepost-${version}-source.tar.gz`, "HEAD", `gatepost-${version}`);

const sbom = run("npm", ["sbom", "--sbom-format=cyclonedx", "--omit=dev", "--package-lock-only"]);
writeFileSync(join(folder, `gatepost-${version}.cdx.json`), sbom);

const sums = readdirSync(folder)
  .sort()
  .map((name) => {
    const sum = createHash("sha256")
      .update(readFileSync(join(folder, name)))
      .digest("hex");
    return `${sum}  ${name}\n`;
  });
writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
console.log(`${folder}:\n${sums.join("")}`);
