import { strict as assert } from "node:assert";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { PAGE_SOURCES } from "../../src/http/account/dashboard.ts";
import { builtFolder } from "../../src/main/dashboard.ts";
import { dashboardWorld } from "./dashboard-world.ts";
import { testWith } from "../process/require-tool.ts";

const root = builtFolder("dashboard", "index.html");
const missing = root === undefined ? ["the built dashboard (npm run build)"] : [];

/** The first pages are in the first script, and all doors, because any page may need them. */
const IN_FIRST = new Set(["/", "/pricing", "/sign-in", "/sign-up", "/new-password"]);

/** Octets of gzip: script and style of a first visit, and of all pages. */
const FIRST_VISIT_MAX = 60_000;
const FRONT_MAX = 75_000;

const weigh = (names: readonly string[]): number =>
  names.reduce((sum, name) => sum + gzipSync(read(name)).length, 0);

const read = (name: string): string => readFileSync(join(root ?? "", name), "utf8");
testWith(
  ["the built dashboard"],
  missing,
  "the page holds no code or style of its own",
  async () => {
    const page = read("index.html");
    assert.equal(/<style|\sstyle=|\son\w+=|javascript:/i.test(page), false);
    for (const match of page.matchAll(/<script([^>]*)>([^<]*)/g)) {
      assert.match(match[1] ?? "", /src=/);
      assert.equal(match[2]?.trim(), "");
    }
    await Promise.resolve();
  },
);

testWith(
  ["the built dashboard"],
  missing,
  "the server answers every page that the browser's program has",
  async () => {
    const source = new URL("../../../src/", import.meta.url);
    const pages = readFileSync(new URL("dashboard/pages.ts", source), "utf8");
    const rows = pages.matchAll(
      /^ {2}\[\s*"([^"]*)",\s*"(?:everyone|visitor|account|admin)",(?:[^[]*?import\("\.\/(pages\/[\w/-]+\.tsx)"\))?/gm,
    );
    const inProgram = [...rows].map(([, path = "", source]) => [`/${path}`, source] as const);
    assert.ok(inProgram.length > 10);
    const paths = new Set(inProgram.map(([path]) => path));
    assert.deepEqual(Object.keys(PAGE_SOURCES).sort(), [...paths].sort());
    for (const [path, source] of inProgram) {
      if (!IN_FIRST.has(path)) assert.equal(PAGE_SOURCES[path], source, path);
    }
    await Promise.resolve();
  },
);

testWith(
  ["the built dashboard"],
  missing,
  "each page names its own chunks, which are there, and the build's manifest is not served",
  async () => {
    const world = await dashboardWorld();
    const page = read("index.html");
    const files = readdirSync(join(root ?? "", "assets")).filter((name) =>
      /\.(?:js|css)$/.test(name),
    );
    const all = weigh(files.map((name) => `assets/${name}`));
    assert.ok(all <= FRONT_MAX, `all scripts and styles: ${String(all)} octets`);
    try {
      const served = async (path: string): Promise<number> =>
        (await fetch(`${world.url}${path}`)).status;
      for (const path of Object.keys(PAGE_SOURCES)) {
        const { headers } = await fetch(`${world.url}${path}`);
        const link = headers.get("link") ?? "";
        const files = [...link.matchAll(/<([^>]+)>; rel=modulepreload/g)].map(([, name]) => name);
        const firsts = [...page.matchAll(/(?:src|href)="([^"]+\.(?:js|css))"/g)];
        const named = [...firsts.map(([, name]) => name), ...files];
        const visit = new Set(named.map((name = "") => name.replace(/^\.?\//, "")));
        const octets = weigh([...visit]);
        assert.ok(octets <= FIRST_VISIT_MAX, `${path}: ${String(octets)} octets at first`);
        if (!IN_FIRST.has(path)) assert.ok(files.length > 0, path);
        for (const file of files)
          assert.equal(await served(file ?? ""), 200, `${path}: ${file ?? ""}`);
      }
      assert.equal(await served("/manifest.json"), 404);
    } finally {
      await world.close();
    }
  },
);
