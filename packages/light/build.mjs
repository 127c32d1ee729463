// Makes dist: one file for each entry and module format, the types, the lists. What src imports is the service's own
// (../../src), so that both give the same answers; the root's build compiles it first.
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { FETCHED_SOURCES, LICENCE_TEXTS } from "../../dist/src/lists/feed-sources.js";
import { compactTables } from "./compact-tables.mjs";

const here = dirname(fileURLToPath(import.meta.url));
const root = join(here, "../..");
const dist = join(here, "dist");

const ENTRIES = [
  { name: "node", source: "light", platform: "node", minify: false },
  { name: "core", source: "core", platform: "browser", minify: true },
];

async function bundle({ name, source, platform, minify }) {
  const build = await rolldown({
    input: join(here, `src/${source}.ts`),
    platform,
    resolve: { mainFields: ["module", "main"] },
    plugins: [compactTables()],
    // It would copy the 60 KB text of public suffixes to each place that reads it.
    optimization: { inlineConst: false },
    onLog(level, log) {
      if (level === "warn") throw new Error(log.message);
    },
  });
  const banner = `/*! gatepost-light, MIT; contains tldts, tr46, punycode${platform === "node" ? ", lru-cache" : ""}: see NOTICES.md */`;
  for (const [format, extension] of [
    ["esm", "js"],
    ["cjs", "cjs"],
  ]) {
    const file = join(dist, `${name}.${extension}`);
    const { output } = await build.write({ file, format, minify, banner, codeSplitting: false });
    if (output.length !== 1) throw new Error(`${name}: ${String(output.length)} files`);
  }
  await build.close();
}

const SPECIFIER = /(from |import\()"(\.[^"]+)\.(?:ts|js)"/g;

/** Where a compiled declaration stands in the types; programs know the entries by these paths. */
const placeOf = (file) =>
  relative(join(root, "dist"), file)
    .replaceAll("\\", "/")
    .replace(/^packages\/light\/src\//, "src/main/library/")
    .slice("src/".length);

/** Copies the declarations that `entry` needs, in both module formats. */
function copyTypes(entry, seen) {
  if (seen.has(entry)) return;
  seen.add(entry);
  const text = readFileSync(entry, "utf8").replace(/^\/\/# sourceMappingURL.*$/m, "");
  const place = placeOf(entry);
  const to = join(dist, "types", place);
  mkdirSync(dirname(to), { recursive: true });
  const named = (name) => {
    const path = posix.relative(posix.dirname(place), placeOf(join(dirname(entry), name)));
    return path.startsWith(".") ? path : `./${path}`;
  };
  for (const [extension, kind] of [
    [".d.ts", "js"],
    [".d.cts", "cjs"],
  ]) {
    writeFileSync(
      to.replace(/\.d\.ts$/, extension),
      text.replace(SPECIFIER, (_, before, name) => `${before}"${named(name)}.${kind}"`),
    );
  }
  for (const [, , name] of text.matchAll(SPECIFIER)) {
    copyTypes(join(dirname(entry), `${name}.d.ts`), seen);
  }
}

const NOTICED = ["tldts", "tr46", "punycode", "lru-cache"];

/** The licences of what is inside the files. */
function writeNotices() {
  const parts = NOTICED.map((name) => {
    const folder = join(root, "node_modules", name);
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
    return `## ${name} ${version}\n\n${licenceIn(folder)}`;
  });
  writeFileSync(
    join(here, "NOTICES.md"),
    `# Notices\n\n${[...parts, ...listNotices()].join("\n\n")}\n`,
  );
}

/** The licences of the lists, and of names that come from packages without a feed. */
function listNotices() {
  const feeds = FETCHED_SOURCES.flatMap(({ id, licence }) => (licence ? [{ id, ...licence }] : []));
  const lines = feeds.map(
    ({ id, spdx, copyright, url }) => `- \`${id}\`: ${spdx}, ${copyright}, ${url}`,
  );
  const texts = Object.entries(LICENCE_TEXTS).map(([spdx, text]) => `### ${spdx}\n\n${text}`);
  const freemail = readFileSync(join(root, "feeds/freemail-licence.txt"), "utf8").trim();
  const roles = licenceIn(join(root, "node_modules/role-based-email-addresses"));
  const named = Object.entries({ freemail, "role-based-email-addresses": roles }).map(
    ([name, text]) => `## ${name} (names in the lists)\n\n${text}`,
  );
  return [`## Lists\n\n${lines.join("\n")}`, ...texts, ...named];
}

function licenceIn(folder) {
  for (const name of ["LICENSE", "LICENSE.md", "LICENSE-MIT.txt", "LICENCE"]) {
    try {
      return readFileSync(join(folder, name), "utf8").trim();
    } catch {
      // the next name
    }
  }
  throw new Error(`${folder}: no licence`);
}

rmSync(dist, { recursive: true, force: true });
mkdirSync(dist, { recursive: true });
for (const entry of ENTRIES) await bundle(entry);
const seen = new Set();
for (const { source } of ENTRIES) {
  copyTypes(join(root, "dist/packages/light/src", `${source}.d.ts`), seen);
}
for (const name of ["bundled.lists", "small.lists"]) {
  copyFileSync(join(root, "dist", name), join(dist, name));
}
copyFileSync(join(root, "LICENSE"), join(here, "LICENSE"));
writeNotices();
