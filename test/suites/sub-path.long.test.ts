import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite } from "node:test";
import { startServiceWorld } from "../e2e/service-world.ts";
import { readDocument } from "../guards/docs-tables.ts";
import { hasTool, testWith } from "../process/require-tool.ts";
import { freePort } from "../services/free-port.ts";
import { pageBlocks } from "./samples/guide-blocks.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

const PAGE = "docs/operations/proxies.md";

type World = Awaited<ReturnType<typeof startServiceWorld>>;

suite("docs/operations/proxies.md: a sub-path", () => {
  const folder = temporaryFolder();
  let world: World;
  let port = 0;
  before(async () => {
    port = await freePort();
    const url = `http://127.0.0.1:${String(port)}/gatepost`;
    const settings = { GATEPOST_TRUST_PROXY: "127.0.0.1", GATEPOST_PUBLIC_URL: url };
    world = await startServiceWorld({ settings });
  });
  after(() => world.close());

  const upstream = (text: string): string =>
    text.replaceAll("127.0.0.1:8080", new URL(world.service.url).host);

  const throughProxy = async (program: string, words: readonly string[]): Promise<void> => {
    const proxy = spawn(program, words, { env: { ...process.env, HOME: folder }, stdio: "ignore" });
    try {
      const base = `http://127.0.0.1:${String(port)}/gatepost`;
      const ask = (path: string, init?: RequestInit) => fetch(`${base}${path}`, init);
      while (proxy.exitCode === null && !(await ask("/healthz").catch(() => undefined))?.ok);
      assert.equal(proxy.exitCode, null, `${program} did not start`);
      const body = new URLSearchParams({ email: "jo@mailinator.com" });
      const decided = await ask("/api/decide", { method: "POST", body });
      assert.equal(((await decided.json()) as { decision: string }).decision, "reject");
      const page = await ask("/", { headers: { accept: "text/html" } });
      assert.match(await page.text(), /<title>Gatepost/);
    } finally {
      proxy.kill("SIGKILL");
      if (proxy.exitCode === null) await once(proxy, "exit");
    }
  };

  const nginx = hasTool("nginx", "-v") ? [] : ["nginx"];
  testWith(["nginx"], nginx, "nginx, with the blocks of the page", async () => {
    const all = pageBlocks(PAGE, "nginx").filter((block) => !block.startsWith("location"));
    const [location = ""] = pageBlocks(PAGE, "nginx", "## A sub-path");
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const file = join(folder, "nginx.conf");
    const server = `server { listen 127.0.0.1:${String(port)};\n${all.join("\n")}\n${upstream(location)} }`;
    writeFileSync(
      file,
      `daemon off; master_process off; pid ${folder}/pid; events {}\nhttp { access_log off; ${paths.join(" ")}\n${server} }`,
    );
    await throughProxy("nginx", ["-p", folder, "-e", "stderr", "-c", file]);
  });

  const caddy = hasTool("caddy", "version") ? [] : ["caddy"];
  testWith(["caddy"], caddy, "Caddy, with the line of the page", async () => {
    const [, line = ""] = /`(reverse_proxy \/gatepost\/\* .*?)`/.exec(readDocument(PAGE)) ?? [];
    const file = join(folder, "Caddyfile");
    writeFileSync(
      file,
      `{\n\tadmin off\n}\nhttp://127.0.0.1:${String(port)} {\n\tbind 127.0.0.1\n\t${upstream(line)}\n}\n`,
    );
    await throughProxy("caddy", ["run", "--adapter", "caddyfile", "--config", file]);
  });
});
