import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { runInNewContext } from "node:vm";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { checkSyntax, createValidator as createOfServer } from "../../src/main/library.ts";
import { forkDnsServer, type ForkedDnsServer } from "../dns/dns-server.ts";
import { openPage, testInBrowser } from "../e2e/browser.ts";
import { DOCS_ZONE } from "../e2e/docs-zone.ts";
import { gatepost, makeHome, startService } from "../e2e/service-process.ts";
import { receiverCertificate, receiverKey, testAuthority } from "../process/certificates.ts";
import { childEnvironment } from "../process/child-environment.ts";
import { pageBlocks } from "./samples/guide-blocks.ts";
import { testWith } from "../process/require-tool.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const MB = 1_000_000;
const OLD_COMPILER = join(ROOT, "test/compat-clients/node_modules/typescript/bin/tsc");

const ENTRIES = [
  "jo@good.example",
  "info@bücher.example",
  "jo@gmial.com",
  "jo@null.example",
  "jo@mailinator.com",
  "jo@silent.example",
  "a..b@good.example",
  "null.example",
];

interface Checked {
  readonly disposable: boolean;
  readonly dns: boolean;
  readonly did_you_mean?: string;
  readonly signals: readonly string[];
  readonly reasons: readonly { readonly code: string; readonly message: string }[];
}

/** A gateway from DNS over HTTPS to a DNS server, beside the pages that use it. */
async function startGateway(dnsPort: number, pages: Map<string, string>): Promise<Server> {
  const server = createServer(
    { cert: receiverCertificate, key: receiverKey },
    (request, response) => {
      const url = new URL(request.url ?? "/", "https://x");
      const page = pages.get(url.pathname);
      if (page !== undefined) {
        const type = url.pathname.endsWith(".js") ? "text/javascript; charset=utf-8" : "text/html";
        response.setHeader("content-type", type).end(page);
        return;
      }
      const query = url.searchParams.get("dns") ?? "";
      const socket = createSocket("udp4");
      socket.on("message", (answer) => {
        socket.close();
        response.setHeader("content-type", "application/dns-message").end(answer);
      });
      socket.send(Buffer.from(query, "base64url"), dnsPort, "127.0.0.1");
    },
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
}

const portOf = (server: { address(): unknown }): string =>
  String((server.address() as AddressInfo).port);

suite("the light package, packed and installed into an empty folder", () => {
  const folder = temporaryFolder();
  const installed = join(folder, "node_modules/gatepost-light");
  let dns: ForkedDnsServer;
  let gateway: Server;
  const pages = new Map<string, string>();

  /** Runs a module of the folder; returns what it prints as JSON. */
  const use = async <T>(file: string, text: string): Promise<T> => {
    writeFileSync(join(folder, file), text);
    const env = childEnvironment({
      NODE_EXTRA_CA_CERTS: join(folder, "authority.pem"),
      SERVER: `127.0.0.1:${String(dns.port)}`,
      DOH: `https://localhost:${portOf(gateway)}/dns-query{?dns}`,
      ENTRIES: JSON.stringify(ENTRIES),
    });
    const { stdout } = await run(process.execPath, [file], { cwd: folder, env });
    return JSON.parse(stdout) as T;
  };

  const checkAll = (options: string): string => `
    const validator = await createValidator(${options});
    const results = [];
    for (const entry of JSON.parse(process.env.ENTRIES)) results.push(await validator.validate(entry));
    await validator.close();
    console.log(JSON.stringify(results));`;
  const OWN_DNS = "{ dnsServers: [process.env.SERVER], dnsCanaries: [] }";
  before(async () => {
    dns = await forkDnsServer(DOCS_ZONE);
    gateway = await startGateway(dns.port, pages);
    writeFileSync(join(folder, "authority.pem"), testAuthority);
    writeFileSync(join(folder, "package.json"), '{"name":"empty","private":true}');
    const npm = { cwd: join(ROOT, "packages/light"), env: childEnvironment({}) };
    await run("npm", ["pack", "--silent", "--pack-destination", folder], npm);
    const [tarball = ""] = readdirSync(folder).filter((name) => name.endsWith(".tgz"));
    assert.ok(statSync(join(folder, tarball)).size <= 5 * MB, "the tarball has at most 5 MB");
    // It has no dependencies, so that nothing is asked of a registry.
    const words = ["install", "--offline", "--no-audit", "--no-fund", `./${tarball}`];
    await run("npm", words, { ...npm, cwd: folder });
  });

  after(async () => {
    gateway.close();
    await dns.close();
  });

  test("it is one package of at most 15 MB, with its licences and lists", () => {
    const packages = readdirSync(join(folder, "node_modules")).filter((name) => name[0] !== ".");
    assert.deepEqual(packages, ["gatepost-light"]);
    const bytes = readdirSync(installed, { recursive: true, encoding: "utf8" })
      .map((name) => statSync(join(installed, name)))
      .reduce((all, stat) => all + (stat.isFile() ? stat.size : 0), 0);
    assert.ok(bytes <= 15 * MB, String(bytes));
    const notices = readFileSync(join(installed, "NOTICES.md"), "utf8");
    assert.match(notices, /## tldts .*## tr46 .*fakefilter.*mailchecker/s);
    for (const name of ["README.md", "LICENSE"]) assert.ok(existsSync(join(installed, name)), name);
  });

  test("import, require and the server's package give the same results, with reasons", async () => {
    const imported = await use<Checked[]>(
      "use.mjs",
      `import { createValidator } from "gatepost-light";${checkAll(OWN_DNS)}`,
    );
    const required = await use<Checked[]>(
      "use.cjs",
      `const { createValidator } = require("gatepost-light"); (async () => {${checkAll(OWN_DNS)}})();`,
    );
    assert.deepEqual(required, imported);
    const dnsServers = [`127.0.0.1:${String(dns.port)}`];
    const ofServer = await createOfServer({ dnsServers, dnsCanaries: [] });
    const expected = [];
    for (const entry of ENTRIES) expected.push(await ofServer.validate(entry));
    await ofServer.close();
    assert.deepEqual(imported, expected);
    const [good, , typo, , thrown, silent, malformed] = imported;
    assert.deepEqual([good?.dns, good?.reasons], [true, []]);
    assert.equal(typo?.did_you_mean, "jo@gmail.com");
    assert.equal(
      thrown?.reasons[0]?.message,
      "mailinator.com is on the lists of disposable domains.",
    );
    assert.deepEqual([silent?.dns, silent?.signals], [false, ["dns_indeterminate"]]);
    assert.deepEqual(
      malformed?.reasons.map(({ code }) => code),
      ["dot_dot"],
    );
  });

  test("DNS over HTTPS gives the same results as a DNS client of its own", async () => {
    const [own, overHttps] = await Promise.all([
      use("own.mjs", `import { createValidator } from "gatepost-light";${checkAll(OWN_DNS)}`),
      use(
        "https.mjs",
        `import { readFileSync } from "node:fs";
         import { createValidator, dnsOverHttps, readLists } from "gatepost-light/core";
         const file = new URL(import.meta.resolve("gatepost-light/bundled.lists"));
         const lists = readLists(readFileSync(file));
         ${checkAll("{ lists, dns: dnsOverHttps({ url: process.env.DOH }) }")}`,
      ),
    ]);
    assert.deepEqual(overHttps, own);
  });

  test("docs/clients.md: listed addresses stay out while the service is dead", async () => {
    const [block = ""] = pageBlocks("docs/clients.md", "js");
    const client = new URL("../../clients/typescript/src/index.js", import.meta.url).href;
    const dead = block
      .replace('"gatepost-client"', JSON.stringify(client))
      .replace("process.env.GATEPOST_URL", '"http://127.0.0.1:9"');
    const said = await use(
      "away.mjs",
      `${dead}
       const emails = ["jo@mailinator.com", "jo@x.mailinator.com", "jo@good.example", "jo@gmail.com"];
       const said = await Promise.all(emails.map((email) => gatepost.decide(email)));
       console.log(JSON.stringify(said.map(({ source, decision }) => source + " " + decision)));`,
    );
    assert.deepEqual(said, ["away reject", "away reject", "away accept", "away accept"]);
  });

  test("fresh lists come from a server and from a file; without them the package's serve", async () => {
    const home = makeHome({ GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.port)}` });
    const service = await startService(home);
    const created = gatepost(home, ["account", "create", "a@x.example", "--json"]);
    const { api_key: key } = JSON.parse(created.out) as { readonly api_key: string };
    const small = join(folder, "node_modules/gatepost-light/dist/small.lists");
    const results = await use<Record<string, unknown>>(
      "fresh.mjs",
      `import { createValidator } from "gatepost-light";
       const warnings = [];
       const onWarning = (text) => warnings.push(text);
       const open = (lists) => createValidator({ ...${OWN_DNS}, lists, listsKey: "${key}", onWarning });
       const codes = async (validator, entry) => (await validator.validate(entry)).signals[0];
       const [served, stored, absent] = await Promise.all(["${service.url}/feeds/disposable.lists", ${JSON.stringify(small)}, "absent"].map(open));
       await served.refreshLists();
       console.log(JSON.stringify({
         served: [await codes(served, "mailinator.com"), await codes(served, "good.example")],
         stored: [await codes(stored, "good.example"), await codes(stored, "mailinator.com")],
         absent: await codes(absent, "mailinator.com"),
         refresh: await absent.refreshLists().catch((error) => error.message),
         warnings,
       }));
       await Promise.all([served, stored, absent].map((validator) => validator.close()));`,
    );
    await service.stop();
    home.remove();
    const { refresh, warnings, ...rest } = results;
    assert.deepEqual(rest, {
      served: ["blacklist_exact", null],
      stored: [null, "blacklist_exact"],
      absent: "blacklist_exact",
    });
    assert.match(String(refresh), /^lists: absent: /);
    assert.deepEqual(warnings, [refresh]);
  });

  test("strict TypeScript takes its types in both module formats", async () => {
    const text = (from: string, options: string): string =>
      `import { createValidator, type Result } from "${from}";
       export const check = async (entry: string): Promise<Result> => {
         const validator = await createValidator(${options});
         const result = await validator.validate(entry, ["spf"]);
         const why: string | undefined = result.reasons[0]?.message ?? result.did_you_mean;
         console.log(why, result.email_auth?.spf, result.mx_info?.length);
         // @ts-expect-error there is no such feature
         void validator.validate(entry, ["dkmi"]);
         return result;
       };`;
    for (const extension of ["mts", "cts"]) {
      const sources = [
        [`node.${extension}`, text("gatepost-light", '{ dnsServers: ["192.0.2.1"] }')],
        [`core.${extension}`, text("gatepost-light/core", "{ timeoutMs: 1_000 }")],
      ] as const;
      for (const [name, source] of sources) writeFileSync(join(folder, name), source);
    }
    const strict = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess"];
    const words = [
      join(ROOT, "node_modules/typescript/bin/tsc"),
      ...strict,
      ..."--ignoreConfig --noEmit --module nodenext --lib es2022,dom --types".split(" "),
      "",
      ..."node.mts node.cts core.mts core.cts".split(" "),
    ];
    await run(process.execPath, words, { cwd: folder }).catch((error: { stdout?: string }) => {
      throw new Error(error.stdout ?? "the types do not compile");
    });
  });

  testWith(
    ["TypeScript 5"],
    existsSync(OLD_COMPILER) ? [] : ["npm ci --prefix test/compat-clients"],
    "the resolution of modules before package exports finds its types",
    async () => {
      const source = `import { createValidator as node } from "gatepost-light";
        import { createValidator } from "gatepost-light/core";
        export const both = [node({ dnsServers: ["192.0.2.1"] }), createValidator({ timeoutMs: 1 })];`;
      writeFileSync(join(folder, "old.ts"), source);
      const flags =
        "--strict --noEmit --module commonjs --moduleResolution node10 --target es2022 --lib es2022,dom";
      const words = [OLD_COMPILER, ...flags.split(" "), "old.ts"];
      await run(process.execPath, words, { cwd: folder }).catch((error: { stdout?: string }) => {
        throw new Error(error.stdout ?? "the types do not compile");
      });
    },
  );

  /** One minified file, as a browser would get it. */
  const bundleOf = async (source: string): Promise<string> => {
    writeFileSync(join(folder, "page.js"), source);
    const built = await build({
      root: folder,
      configFile: false,
      logLevel: "silent",
      build: {
        write: false,
        minify: true,
        lib: { entry: "page.js", formats: ["iife"], name: "page" },
      },
    });
    const [{ output }] = built as { output: { code: string }[] }[] as [
      { output: { code: string }[] },
    ];
    assert.equal(output.length, 1);
    return output[0]?.code ?? "";
  };

  test("the core is at most 125 KB in a browser's bundle, and runs without anything of Node", async () => {
    const code = await bundleOf('export * from "gatepost-light/core";');
    const bytes = gzipSync(code, { level: 9 }).length;
    assert.ok(bytes > 50_000 && bytes <= 125_000, `${String(bytes)} octets of gzip`);
    assert.doesNotMatch(code, /["'`]node:|\brequire\(|\bBuffer\b|\bprocess\./);
    const web = { TextEncoder, TextDecoder, URL, AbortController, AbortSignal, btoa, performance };
    const timers = { setTimeout, clearTimeout };
    const context = { ...web, ...timers, fetch, console, SharedArrayBuffer: undefined };
    const checked = (await runInNewContext(
      `${code}; page.createValidator().then((validator) => validator.validate("jo@gmial.com"))`,
      context,
    )) as Checked;
    assert.equal(checked.did_you_mean, "jo@gmail.com");
    assert.deepEqual([...checked.signals], ["dns_indeterminate", "typo_domain"]);
  });

  /** What DNS says of a name that takes mail, and of one that does not. */
  const DNS_KNOWS = [true, false];
  const ASK = `(async (url) => {
    const validator = await page.createValidator({ dns: page.dnsOverHttps({ url }) });
    const results = [];
    for (const entry of ["jo@good.example", "jo@null.example"]) results.push(await validator.validate(entry));
    await validator.close();
    return results.map(({ dns, signals }) => (signals.includes("dns_indeterminate") ? "unknown" : dns));
  })`;

  testInBrowser("the core asks DNS over HTTPS in a page and in a worker of Chromium", async () => {
    const code = await bundleOf('export * from "gatepost-light/core";');
    pages.set("/", "<!doctype html><meta charset=utf-8><h1>x</h1><script src=page.js></script>");
    pages.set("/page.js", code);
    const own = `https://localhost:${portOf(gateway)}/`;
    const url = JSON.stringify(`${own}dns-query`);
    const told = "then(postMessage, (error) => postMessage(String(error)))";
    pages.set("/worker.js", `${code}; ${ASK}(${url}).${told};`);
    const { page, context, complaints } = await openPage(own, { ignoreHTTPSErrors: true });
    await page.goto(own);
    assert.deepEqual(complaints, []);
    assert.deepEqual(await page.evaluate(`${ASK}(${url})`), DNS_KNOWS);
    const inWorker = `new Promise((resolve) => {
      const worker = new Worker("/worker.js");
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => resolve(message);
    })`;
    assert.deepEqual(await page.evaluate(inWorker), DNS_KNOWS);
    assert.deepEqual(complaints, []);
    await context.close();
  });

  test("its packed tables read every character as the sources do", async () => {
    const copy = join(folder, "core.mjs");
    cpSync(join(installed, "dist/core.js"), copy);
    const packed = (await import(copy)) as { checkSyntax: typeof checkSyntax };
    const step = (code: number): number => (code < 0x3_000 ? 1 : code < 0x3_0000 ? 29 : 7_001); // all take a minute
    for (let code = 0x80; code < 0x11_0000; code += step(code)) {
      const entry = `a${String.fromCodePoint(code)}b.example`;
      assert.deepEqual(packed.checkSyntax(entry), checkSyntax(entry), code.toString(16));
    }
  });
});
