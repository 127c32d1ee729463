// Makes the folder of a release: `npm run release [-- FOLDER]`. Everything that the documents install is in it; nothing is uploaded.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
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
import { releaseSbom } from "./sbom.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** `homepage` in package.json is where a registry's links lead. */
const own = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
const { version, homepage } = own;
/** Where people report faults: the owner of a build says it. */
const bugs = process.env["GATEPOST_BUGS"] ?? own.bugs;
if (!URL.canParse(bugs) || new URL(bugs).hostname === "gatepost.example") {
  console.error(
    `GATEPOST_BUGS: "${bugs}" is a placeholder; set it, or bugs in package.json, to the URL or mailto: address where faults are reported`,
  );
  process.exit(2);
}
const folder = resolve(process.argv[2] ?? "release");
if (existsSync(folder) && readdirSync(folder).length > 0) {
  console.error(`${folder}: it is not empty; delete it, or name another folder`);
  process.exit(2);
}
mkdirSync(folder, { recursive: true });

const run = (command, words, cwd = root) =>
  execFileSync(command, words, { cwd, encoding: "utf8", maxBuffer: 64 * 1_048_576 });

/** Of the commit: every file of a release has it, so that two builds have the same octets. */
const seconds = run("git", ["log", "-1", "--format=%ct"]).trim();
process.env["SOURCE_DATE_EPOCH"] = seconds; // for the wheel

/** Runs `fill` in an empty folder; then the package there gets the licence, and links that work from a registry. */
function staged(path, fill, pack) {
  const place = mkdtempSync(join(tmpdir(), "gatepost-release-"));
  fill(place);
  copyFileSync(join(root, "LICENSE"), join(place, "LICENSE"));
  const readme = join(place, "README.md");
  const links = /\]\((?!https?:|#)([^)]+)\)/g;
  const absolute = (_, to) => `](${homepage}/${join(path, to).replaceAll("\\", "/")})`;
  writeFileSync(readme, readFileSync(readme, "utf8").replace(links, absolute));
  pack(place);
  rmSync(place, { recursive: true });
}

/** The server, `gatepost-light` and `gatepost-client`. Packing builds each. */
for (const path of ["", "packages/light", "clients/typescript"]) {
  const fill = (place) => {
    const workspace = path === "" ? [] : [`--workspace=${path}`];
    run("npm", ["pack", ...workspace, "--pack-destination", place]);
    const [packed] = readdirSync(place);
    run("tar", ["-xzf", packed, "--strip-components=1"], place);
    rmSync(join(place, packed));
    const described = join(place, "package.json");
    const json = { ...JSON.parse(readFileSync(described, "utf8")), bugs };
    writeFileSync(described, `${JSON.stringify(json, undefined, 2)}\n`);
  };
  const again = ["pack", "--ignore-scripts", "--pack-destination", folder];
  staged(path, fill, (place) => run("npm", again, place));
}

/** What git has at this commit. */
const committed = (path) => (place) => {
  const sources = join(place, "sources.tar");
  run("git", ["archive", `--output=${sources}`, `HEAD:${path}`]);
  run("tar", ["-xf", sources, "-C", place]);
  for (const name of ["sources.tar", "tests"]) rmSync(join(place, name), { recursive: true });
};
staged("clients/python", committed("clients/python"), (place) => {
  run("python3", ["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, place]);
});
staged("clients/php", committed("clients/php"), (place) => {
  const zip = join(folder, `gatepost-php-${version}.zip`);
  run("find", [".", "-exec", "touch", "-d", `@${seconds}`, "{}", "+"], place);
  run("python3", ["-m", "zipfile", "-c", zip, ...readdirSync(place)], place);
});
run("git", [
  "archive",
  `--output=${join(folder, `gatepost-${version}-source.tar.gz`)}`,
  `--prefix=gatepost-${version}/`,
  "HEAD",
]);

// Imported here, because packing has built it.
const { FETCHED_SOURCES: lists } = await import("../dist/src/lists/feed-sources.js");
const all = JSON.parse(run("npm", ["sbom", "--sbom-format=cyclonedx", "--package-lock-only"]));
delete all.serialNumber;
all.metadata.timestamp = new Date(Number(seconds) * 1_000).toISOString();
const sbom = JSON.stringify(releaseSbom(all, { root, lists }), undefined, 2);
writeFileSync(join(folder, `gatepost-${version}.cdx.json`), `${sbom}\n`);

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
