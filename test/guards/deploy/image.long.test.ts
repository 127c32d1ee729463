import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { childEnvironment } from "../../process/child-environment.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { readText } from "./deploy-files.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

/** The packages that `npm prune --omit=dev` leaves, by the lock file. */
function keptPackages(): readonly string[] {
  const { packages } = JSON.parse(readText("package-lock.json")) as {
    readonly packages: Readonly<Record<string, { dev?: true; optional?: true; link?: true }>>;
  };
  return Object.entries(packages)
    .filter(([, { dev, optional, link }]) => !(dev ?? optional ?? link ?? false))
    .map(([path]) => path)
    .filter((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+$/.test(path));
}

/** Lays out the last stage of the Dockerfile, with this checkout as its build stage. */
function layImage(): string {
  const folder = temporaryFolder();
  const [, last = ""] = readText("deploy/Dockerfile").split(/^FROM (?!.* AS )/m);
  const copies = [...last.matchAll(/^COPY (?:--\S+ )*(\S+) (\S+)$/gm)];
  assert.ok(copies.length > 7);
  for (const [, from = "", to = ""] of copies) {
    const target = join(
      folder,
      resolve("/app", to.endsWith("/") ? join(to, from.split("/").at(-1) ?? "") : to),
    );
    const source = from.replace(/^\/build\//, "");
    if (source === "node_modules") {
      for (const path of keptPackages()) {
        const link = join(target, path.slice("node_modules/".length));
        mkdirSync(dirname(link), { recursive: true });
        symlinkSync(join(root, path), link);
      }
    } else {
      cpSync(join(root, source), target, { recursive: true });
    }
  }
  return join(folder, "app");
}

const app = layImage();
const PROGRAM = join(app, "dist/run/gatepost.js");
const env = childEnvironment({
  PORT: "0",
  GATEPOST_DATA_DIR: join(app, "data"),
  GATEPOST_LISTS_REFRESH: "off",
  GATEPOST_DNS_SERVERS: "off",
});

async function serveImage(t: TestContext): Promise<string> {
  const child = spawn(process.execPath, [PROGRAM, "serve"], { env });
  t.after(() => child.kill("SIGKILL"));
  const [seen] = (await once(child.stderr, "data")) as [Buffer];
  const [, url] = /listens on (\S+)/.exec(seen.toString()) ?? [];
  assert.ok(url !== undefined, seen.toString());
  return url;
}

const megabytes = (octets: number): string => `${(octets / 1e6).toFixed(1)} MB`;

/** The names of a feed, as text or as JSON. */
const countOf = (feed: string): number =>
  feed.startsWith("{")
    ? (JSON.parse(feed) as { readonly names: readonly unknown[] }).names.length
    : feed.split("\n").filter((line) => line !== "" && !line.startsWith("#")).length;

/** What a page names of its own server. */
const namedIn = (html: string): readonly string[] =>
  [...html.matchAll(/(?:src|href)="([^"#]+)"/g)].map(([, address = ""]) => address);

test("the image serves its pages with all that they load, the widget and the feeds", async (t) => {
  const url = await serveImage(t);
  const account = ["account", "create", "a@image.example", "--json"];
  const made = spawnSync(process.execPath, [PROGRAM, ...account], { env, encoding: "utf8" });
  const { api_key: key } = JSON.parse(made.stdout) as { readonly api_key: string };
  const asked = new Map<string, number>();
  async function ask(address: string): Promise<Buffer> {
    const answer = await fetch(new URL(address, url), { headers: { "x-api-key": key } });
    asked.set(new URL(answer.url).pathname, answer.status);
    return Buffer.from(await answer.arrayBuffer());
  }
  for (const address of ["/widget.js", "/openapi.json", "/llms.txt"]) await ask(address);
  const figures = [...readText("docs/feeds.md").matchAll(/^\|`disposable\.(\w+)`.*$/gm)];
  assert.equal(figures.length, 3);
  for (const [row, kind = ""] of figures) {
    const body = await ask(`/feeds/disposable.${kind}`);
    if (kind !== "lists")
      assert.ok(row.includes(`|${countOf(String(body)).toLocaleString("en-US")}|`), row);
    const sizes = [body.length, gzipSync(body).length].map(megabytes);
    assert.ok(row.endsWith(`|${sizes.join("|")}|`), `${row}: ${sizes.join(", ")}`);
  }
  for (const page of ["/docs", "/"]) {
    for (const address of namedIn(String(await ask(page)))) {
      if (new URL(address, url).origin === url) await ask(address);
    }
  }
  assert.ok(
    asked.has("/docs/static/swagger-ui-bundle.js") && asked.has("/docs/static/swagger-ui.css"),
  );
  assert.ok([...asked.keys()].some((path) => path.startsWith("/assets/") || path.endsWith(".js")));
  const failed = [...asked].filter(([, status]) => status !== 200);
  assert.deepEqual(failed, []);
});

test("the doctor misses no file in the image", () => {
  const { stdout } = spawnSync(process.execPath, [PROGRAM, "doctor", "--json"], {
    env,
    encoding: "utf8",
  });
  const findings = JSON.parse(stdout) as readonly {
    readonly name: string;
    readonly state: string;
  }[];
  assert.equal(findings.find(({ name }) => name === "program")?.state, "ok");
});

test("what the last stage copies passes .dockerignore or is built", () => {
  const sent = readText(".dockerignore")
    .split("\n")
    .filter((line) => line.startsWith("!"));
  const [, last = ""] = readText("deploy/Dockerfile").split(/^FROM (?!.* AS )/m);
  for (const [, source = ""] of last.matchAll(/^COPY (?!--from)(?:--\S+ )*(\S+) \S+$/gm)) {
    assert.ok(sent.includes(`!${source}`), source);
  }
});
