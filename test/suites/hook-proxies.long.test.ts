import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { readDocument } from "../guards/docs-tables.ts";
import { hasTool, testWith } from "../process/require-tool.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

/** How the service behaves, and what the identity system gets through the proxy. */
const CASES: readonly [
  name: string,
  service: RequestListener | "dead",
  status: number,
  body: string,
][] = [
  ["dead", "dead", 204, ""],
  ["hanging", () => undefined, 204, ""],
  ["faulty", (_, response) => response.writeHead(500).end("fault"), 204, ""],
  ["starting", (_, response) => response.writeHead(503).end("later"), 204, ""],
  [
    "refusing in Supabase's words",
    (_, response) => response.end('{"error":1}'),
    200,
    '{"error":1}',
  ],
  ["refusing in Kratos' words", (_, response) => response.writeHead(400).end("no"), 400, "no"],
  ["asked with a wrong secret", (_, response) => response.writeHead(401).end("who"), 401, "who"],
  ["refusing in FusionAuth's words", (_, response) => response.writeHead(422).end("no"), 422, "no"],
];

interface Ports {
  readonly listen: number;
  readonly service: number;
}

/** Starts the proxy with the shipped file; only its ports are the test's. */
const PROXIES: Readonly<
  Record<
    string,
    (folder: string, ports: Ports) => readonly [env: NodeJS.ProcessEnv, words: readonly string[]]
  >
> = {
  caddy(folder, { listen, service }) {
    const file = join(folder, "Caddyfile");
    writeFileSync(file, `{\n\tadmin off\n}\n${readDocument("deploy/hooks.Caddyfile")}`);
    const env = {
      HOME: folder,
      GATEPOST_SITE: `http://127.0.0.1:${String(listen)}`,
      GATEPOST_UPSTREAM: `127.0.0.1:${String(service)}`,
    };
    return [env, ["run", "--adapter", "caddyfile", "--config", file]];
  },
  "caddy of compose.yaml"(folder, { listen, service }) {
    const file = join(folder, "Caddyfile");
    const upstream = `127.0.0.1:${String(service)}`;
    const text = readDocument("deploy/Caddyfile").replaceAll("api-1:8080 api-2:8080", upstream);
    writeFileSync(file, text);
    const env = { HOME: folder, GATEPOST_SITE: `http://127.0.0.1:${String(listen)}` };
    return [env, ["run", "--adapter", "caddyfile", "--config", file]];
  },
  nginx(folder, { listen, service }) {
    const site = readDocument("deploy/hooks.nginx.conf")
      .replaceAll("127.0.0.1:8080", `127.0.0.1:${String(service)}`)
      .replace("listen 80;", `listen 127.0.0.1:${String(listen)};`);
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const file = join(folder, "nginx.conf");
    writeFileSync(
      file,
      `daemon off; master_process off; pid ${folder}/pid; events {}\nhttp { access_log off; ${paths.join(" ")}\n${site}}`,
    );
    return [{}, ["-p", folder, "-e", "stderr", "-c", file]];
  },
};

const portOf = async (server: ReturnType<typeof createServer>): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
};

/** Caddy listens on every address, also on that where `services/free-port.ts` holds its claims. */
async function freePort(): Promise<number> {
  const server = createServer();
  const port = await portOf(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function throughProxy(t: TestContext, proxyName: string): Promise<void> {
  const folder = temporaryFolder();
  let behave: RequestListener = (_, response) => response.end("up");
  const service = createServer((request, response) => behave(request, response));
  const ports = { service: await portOf(service), listen: await freePort() };
  const [env, words] = PROXIES[proxyName]?.(folder, ports) ?? assert.fail();
  const proxy = spawn(programOf(proxyName), words, {
    env: { ...process.env, ...env },
    stdio: "ignore",
  });
  t.after(() => {
    proxy.kill("SIGKILL");
    service.closeAllConnections();
    service.close();
  });
  const base = `http://127.0.0.1:${String(ports.listen)}`;
  const ask = (path: string) => fetch(`${base}${path}`, { method: "POST", body: '{"email":"jo"}' });
  while (
    proxy.exitCode === null &&
    !(await ask("/").then(
      (answer) => answer.ok,
      () => false,
    ))
  );
  assert.equal(proxy.exitCode, null, `${proxyName} did not start`);
  for (const [name, how, status, body] of CASES.toReversed()) {
    if (how === "dead") {
      service.closeAllConnections();
      await new Promise((resolve) => service.close(resolve));
    } else behave = how;
    const startedMs = performance.now();
    const answer = await ask("/hooks/0123");
    const tookMs = performance.now() - startedMs;
    assert.deepEqual([answer.status, await answer.text()], [status, body], `${proxyName}: ${name}`);
    assert.ok(tookMs < 1_900, `${proxyName}: ${name} took ${String(tookMs)} ms`);
  }
  assert.equal((await ask("/api/email")).status, 502, "other paths tell the fault");
}

const programOf = (proxyName: string): string => proxyName.split(" ")[0] ?? "";

for (const proxyName of Object.keys(PROXIES)) {
  const program = programOf(proxyName);
  const missing = hasTool(program, program === "nginx" ? "-v" : "version") ? [] : [program];
  const rule = `${proxyName}: sign-ups go on while the service is dead or hangs`;
  testWith([program], missing, rule, (t) => throughProxy(t, proxyName));
}
