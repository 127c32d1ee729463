// A server that is stopped behind a proxy, beside another one: no client sees it.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  gatepost,
  type Home,
  makeHome,
  type ServiceProcess,
  startService,
} from "../e2e/service-process.ts";
import { readDocument } from "../guards/docs-tables.ts";
import { hasTool, testWith } from "../process/require-tool.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";
import { freePort } from "../services/free-port.ts";

/** STOPS=20 by hand. */
const STOPS = Number(process.env["STOPS"] ?? 2);
const CLIENTS = 24;

/** After a start: the proxy finds the server again after one or two seconds. */
const IN_USE_MS = 2_500;

const folder = temporaryFolder();

/** nginx with kept-alive connections, as its manual shows them; it sends no POST a second time. */
function nginxFile(port: number, servers: readonly number[]): readonly string[] {
  const file = join(folder, "nginx.conf");
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  const upstream = servers
    .map((server) => `server 127.0.0.1:${String(server)} fail_timeout=1s;`)
    .join(" ");
  writeFileSync(
    file,
    `daemon off; master_process off; pid ${folder}/pid; events {}
     http { access_log off; ${paths.join(" ")}
     upstream gatepost { ${upstream} keepalive 64; }
     server { listen 127.0.0.1:${String(port)};
     location / { proxy_pass http://gatepost; proxy_http_version 1.1; proxy_set_header Connection ""; } } }`,
  );
  return ["-p", folder, "-e", "stderr", "-c", file];
}

/** Caddy with the lines of deploy/Caddyfile that matter here. */
function caddyFile(port: number, servers: readonly number[]): readonly string[] {
  const file = join(folder, "Caddyfile");
  const upstreams = servers.map((server) => `127.0.0.1:${String(server)}`).join(" ");
  writeFileSync(
    file,
    `{
	admin off
}
http://127.0.0.1:${String(port)} {
	bind 127.0.0.1
	reverse_proxy ${upstreams} {
		lb_policy least_conn
		lb_try_duration 5s
		health_uri /healthz
		health_interval 2s
		transport http {
			keepalive 60s
		}
	}
}
`,
  );
  return ["run", "--adapter", "caddyfile", "--config", file];
}

/** The shipped file, in front of hooks. */
function composeFile(port: number, servers: readonly number[]): readonly string[] {
  const file = join(folder, "compose.Caddyfile");
  const upstreams = servers.map((server) => `127.0.0.1:${String(server)}`).join(" ");
  const text = readDocument("deploy/Caddyfile")
    .replaceAll("api-1:8080 api-2:8080", upstreams)
    .replace(
      "{$GATEPOST_SITE:localhost} {",
      `http://127.0.0.1:${String(port)} {\n\tbind 127.0.0.1`,
    );
  writeFileSync(file, text);
  return ["run", "--adapter", "caddyfile", "--config", file];
}

interface Call {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly status: number;
}

const CHECK: Call = {
  path: "/api/email",
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: "email=not-an-address",
  status: 200,
};

/** The status of one POST; 0 when there is no answer. */
function ask(port: number, agent: Agent, { path, headers, body }: Call): Promise<number> {
  const options = { host: "127.0.0.1", port, path, method: "POST", headers, agent };
  return new Promise((resolve) => {
    const asked = request(options, (answer) => {
      answer.resume();
      answer.once("close", () => resolve(answer.statusCode ?? 0));
    });
    asked.once("error", () => resolve(0));
    asked.end(body);
  });
}

async function stopsBehind(
  program: string,
  wordsOf: (port: number, servers: readonly number[]) => readonly string[],
  callOn: (homes: readonly Home[]) => Call = () => CHECK,
): Promise<void> {
  const ports = [await freePort(), await freePort()];
  const port = await freePort();
  const homes = ports.map((own) => {
    const tiers = join(folder, "tiers.json");
    writeFileSync(tiers, JSON.stringify({ anonymous: { rate_per_minute: null, daily: null } }));
    return makeHome({
      PORT: String(own),
      GATEPOST_TIERS_FILE: tiers,
      GATEPOST_DNS_CANARIES: "off",
      LOG_LEVEL: "warn",
    });
  });
  const call = callOn(homes);
  const start = (at: number): Promise<ServiceProcess> => startService(homes[at] ?? assert.fail());
  const running = await Promise.all([start(0), start(1)]);
  const proxy = spawn(program, wordsOf(port, ports), {
    env: { ...process.env, HOME: folder },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let log = "";
  proxy.stderr.setEncoding("utf8").on("data", (text: string) => (log = (log + text).slice(-4_000)));
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS });
  const seen = new Map<number, number>();
  let isOver = false;
  const goOn = async (): Promise<void> => {
    while (!isOver) {
      const status = await ask(port, agent, call);
      seen.set(status, (seen.get(status) ?? 0) + 1);
      await pause(Math.random() * 20);
    }
  };
  try {
    while (proxy.exitCode === null && (await ask(port, agent, call)) !== call.status)
      await pause(20);
    assert.equal(proxy.exitCode, null, `${program} did not start`);
    const clients = Array.from({ length: CLIENTS }, goOn);
    for (let stop = 0; stop < STOPS; stop += 1) {
      await pause(IN_USE_MS);
      assert.equal(await running[0].stop("SIGTERM"), 0);
      running[0] = await start(0);
    }
    isOver = true;
    await Promise.all(clients);
    assert.deepEqual([...seen.keys()], [call.status], `${JSON.stringify([...seen])}\n${log}`);
  } finally {
    isOver = true;
    agent.destroy();
    proxy.kill("SIGKILL");
    if (proxy.exitCode === null) await once(proxy, "exit");
    await Promise.all(running.map((one) => one.stop("SIGKILL")));
    for (const home of homes) home.remove();
  }
}

/** One installation, copied: both servers have the hook. A listed address is refused, so that one let in would show. */
function hookOn([first, ...others]: readonly Home[]): Call {
  if (first === undefined) return assert.fail();
  const words = ["account", "create", "jo@shop.example", "--tier", "pro", "--json"];
  const { account_id: id } = JSON.parse(gatepost(first, words).out) as { account_id: string };
  const made = gatepost(first, ["hook", "create", id, "kratos", "--json"]).out;
  const hook = JSON.parse(made) as { readonly id: string; readonly secret: string };
  for (const { directory } of others) cpSync(first.directory, directory, { recursive: true });
  const headers = { "content-type": "application/json", authorization: `Bearer ${hook.secret}` };
  const body = '{"email":"jo@mailinator.com"}';
  return { path: `/hooks/${hook.id}`, headers, body, status: 400 };
}

const missing = (name: string, flag: string): readonly string[] =>
  hasTool(name, flag) ? [] : [name];

testWith(["nginx"], missing("nginx", "-v"), "servers that stop behind nginx cut no request", () =>
  stopsBehind("nginx", nginxFile),
);
testWith(
  ["caddy"],
  missing("caddy", "version"),
  "servers that stop behind Caddy cut no request",
  () => stopsBehind("caddy", caddyFile),
);
testWith(
  ["caddy"],
  missing("caddy", "version"),
  "servers that stop behind the shipped Caddyfile let no hook call in",
  () => stopsBehind("caddy", composeFile, hookOn),
);
