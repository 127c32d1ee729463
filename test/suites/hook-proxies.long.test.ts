import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, request as requestPlain, type RequestListener } from "node:http";
import { request as requestTls } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { after, before, type TestContext } from "node:test";
import { createAccount, startServiceWorld } from "../e2e/service-world.ts";
import { gatepost } from "../e2e/service-process.ts";
import { readDocument } from "../guards/docs-tables.ts";
import { receiverCertificate, receiverKey, testAuthority } from "../process/certificates.ts";
import { hasTool, testWith } from "../process/require-tool.ts";
import { PATIENCE_MS, until } from "../time/until.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

interface Ports {
  readonly listen: number;
  /** Ports of 127.0.0.1, or other addresses with theirs. */
  readonly services: readonly (number | string)[];
  /** Changes the shipped file's limits of time. */
  readonly limits: (text: string) => string;
}

const AS_SHIPPED = (text: string): string => text;
/** A busy machine may take longer than the shipped limits, and is let in rightly; here only other reasons count. */
const PATIENT = (text: string): string =>
  text.replace(/\b(?:300|500|2500)ms\b|(?<=upstream_timeout )1s/g, "30s");

const placesOf = ({ services }: Ports): readonly string[] =>
  services.map((each) => (typeof each === "number" ? `127.0.0.1:${String(each)}` : each));

interface Run {
  readonly url: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly words: readonly string[];
}

const NGINX = readDocument("deploy/hooks.nginx.conf");

/** The shipped file; only its ports, and nginx's certificate, are the test's. */
const PROXIES: Readonly<Record<string, (folder: string, ports: Ports) => Run>> = {
  caddy(folder, ports) {
    const file = join(folder, "Caddyfile");
    const url = `http://127.0.0.1:${String(ports.listen)}`;
    writeFileSync(
      file,
      `{\n\tadmin off\n}\n${ports.limits(readDocument("deploy/hooks.Caddyfile"))}`,
    );
    const env = { GATEPOST_SITE: url, GATEPOST_UPSTREAM: placesOf(ports).join(" ") };
    return { url, env, words: ["run", "--adapter", "caddyfile", "--config", file] };
  },
  "caddy of compose.yaml"(folder, ports) {
    const file = join(folder, "Caddyfile");
    const url = `http://127.0.0.1:${String(ports.listen)}`;
    const upstreams = placesOf(ports).join(" ");
    const text = readDocument("deploy/Caddyfile").replaceAll("api-1:8080 api-2:8080", upstreams);
    writeFileSync(file, ports.limits(text));
    const env = { GATEPOST_SITE: url };
    return { url, env, words: ["run", "--adapter", "caddyfile", "--config", file] };
  },
  nginx(folder, ports) {
    const [line = ""] = /server 127\.0\.0\.1:8080[^;]*;/.exec(NGINX) ?? [];
    const servers = placesOf(ports).map((place) => line.replace("127.0.0.1:8080", place));

    writeFileSync(join(folder, "fullchain.pem"), receiverCertificate);
    writeFileSync(join(folder, "privkey.pem"), receiverKey);
    const site = ports
      .limits(NGINX)
      .replace(line, servers.join("\n"))
      .replaceAll("/etc/ssl/gatepost", folder)
      .replace("/var/log/nginx", folder)
      .replace("listen 80;", `listen unix:${folder}/plain;`)
      .replace("listen 443 ssl;", `listen 127.0.0.1:${String(ports.listen)} ssl;`);
    const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const file = join(folder, "nginx.conf");
    writeFileSync(
      file,
      `daemon off; master_process off; pid ${folder}/pid; events {}\nhttp { access_log off; ${paths.join(" ")}\n${site}}`,
    );
    const url = `https://localhost:${String(ports.listen)}`;
    return { url, words: ["-p", folder, "-e", "stderr", "-c", file] };
  },
};

const programOf = (proxyName: string): string => proxyName.split(" ")[0] ?? "";

const portOf = async (server: ReturnType<typeof createServer>): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return (server.address() as AddressInfo).port;
};

/** A process that has the port bound without listening, so that it refuses connections and no other takes it. */
async function boundPort(t: TestContext, port = 0): Promise<number> {
  const script = `import socket,time\ns=socket.socket()\ns.setsockopt(socket.SOL_SOCKET,socket.SO_REUSEADDR,1)\ns.bind(('127.0.0.1',${String(port)}))\nprint(s.getsockname()[1],flush=True)\ntime.sleep(900)`;
  return await printedPort(t, script);
}

async function printedPort(t: TestContext, script: string): Promise<number> {
  const child = spawn("python3", ["-c", script], { stdio: ["ignore", "pipe", "inherit"] });
  t.after(() => child.kill("SIGKILL"));
  const [port] = (await once(child.stdout, "data")) as [Buffer];
  return Number(port.toString());
}

/** Caddy listens on every address, also on that where `services/free-port.ts` holds its claims. */
async function freePort(): Promise<number> {
  const server = createServer();
  const port = await portOf(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

interface Answered {
  readonly status: number | undefined;
  readonly body: string;
}

async function post(url: string, body: string, authorization = ""): Promise<Answered> {
  const ask = url.startsWith("https:") ? requestTls : requestPlain;
  const headers = { "content-type": "application/json", authorization };
  const asked = ask(url, { method: "POST", headers, agent: false, ca: testAuthority });
  asked.end(body);
  const [response] = (await once(asked, "response")) as [
    AsyncIterable<Buffer> & { readonly statusCode?: number },
  ];
  let text = "";
  for await (const piece of response) text += piece.toString();
  return { status: response.statusCode, body: text };
}

/** Starts the proxy and waits until it passes calls on. */
async function startProxy(
  t: TestContext,
  proxyName: string,
  services: readonly (number | string)[],
  limits = AS_SHIPPED,
) {
  const folder = temporaryFolder();
  const start = PROXIES[proxyName] ?? assert.fail();
  const { url, env, words } = start(folder, { services, limits, listen: await freePort() });
  const proxy: ChildProcess = spawn(programOf(proxyName), words, {
    env: { ...process.env, HOME: folder, ...env },
    stdio: ["ignore", "ignore", "pipe"],
  });
  t.after(() => proxy.kill("SIGKILL"));
  let log = "";
  proxy.stderr?.setEncoding("utf8").on("data", (text: string) => (log += text));
  const isUp = (): Promise<boolean> =>
    post(url, "{}").then(
      () => true,
      () => false,
    );
  while (proxy.exitCode === null && !(await isUp()));
  assert.equal(proxy.exitCode, null, `${proxyName} did not start: ${log}`);
  const file = join(folder, "gatepost-missed.log");
  return { url, log: () => log + (existsSync(file) ? readFileSync(file, "utf8") : "") };
}

/** How the service behaves, and what the identity system gets. */
const CASES: readonly (readonly [
  name: string,
  service: RequestListener | "dead",
  status: number,
  body: string,
])[] = [
  ["dead", "dead", 204, ""],
  ["hanging", () => undefined, 204, ""],
  ["faulty", (_, response) => response.writeHead(500).end("fault"), 204, ""],
  ["starting", (_, response) => response.writeHead(503).end("later"), 204, ""],
  ["without this hook", (_, response) => response.writeHead(404).end("none"), 204, ""],
  [
    "slow",
    (_, response) => void setTimeout(() => response.writeHead(400).end("no"), 1_500),
    400,
    "no",
  ],
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

/** Whatever becomes of a call, the process says that it lives. */
const living =
  (serve: RequestListener): RequestListener =>
  (request, response) =>
    request.url === "/healthz" ? response.end("ok") : serve(request, response);

const SECRET = "Bearer gp_hook_0123";

/** What the operator counts in the proxy's log. nginx writes its usual line. */
const LET_IN = /Gatepost-Missed|"POST \/hooks\/[^"]*" 204/g;

/** Supabase gives up after 5 s. */
const LET_IN_WITHIN_MS = 4_000;
/** The machine may be busy; what takes longer by itself does so each time. */
const TRIES = 3;
const KEPT_CALLS = 10;

async function throughProxy(t: TestContext, proxyName: string): Promise<void> {
  let behave: RequestListener = (_, response) => response.end("up");
  let connections = 0;
  const service = createServer(living((request, response) => behave(request, response)));
  service.on("connection", () => (connections += 1));
  t.after(() => {
    service.closeAllConnections();
    service.close();
  });
  const port = await portOf(service);
  const { url, log } = await startProxy(t, proxyName, [port]);
  connections = 0;
  for (let calls = 0; calls < KEPT_CALLS; calls += 1) await post(`${url}/hooks/0123`, "{}");
  assert.ok(connections <= 1, `${String(connections)} connections for ${String(KEPT_CALLS)} calls`);
  let logged = 0;
  for (const [name, how, status, body] of CASES.toReversed()) {
    if (how === "dead") {
      service.closeAllConnections();
      await new Promise((resolve) => service.close(resolve));
      await boundPort(t, port);
    } else behave = how;
    let leastMs = Infinity;
    for (let tries = 0; tries < TRIES && leastMs >= LET_IN_WITHIN_MS; tries += 1) {
      const startedMs = performance.now();
      assert.deepEqual(await post(`${url}/hooks/0123`, "{}", SECRET), { status, body }, name);
      leastMs = Math.min(leastMs, performance.now() - startedMs);
      logged += status === 204 ? 1 : 0;
    }
    assert.ok(leastMs < LET_IN_WITHIN_MS, `${name} took ${String(leastMs)} ms`);
  }
  const lines = (): number => log().match(LET_IN)?.length ?? 0;
  await until(() => lines() >= logged, { what: "a line for each", withinMs: PATIENCE_MS });
  assert.equal(lines(), logged);
  assert.ok(!log().includes(SECRET), "the log has no secret");
  const { status = 0 } = await post(`${url}/api/email`, "{}");
  assert.ok([502, 503].includes(status), "other paths tell the fault");
}

/** Ways in which one of two servers is away; 127.255.255.254 with a full queue of connections stands for a host that is gone. */
const AWAY = ["refuses connections", "takes no connection", "takes connections and hangs"] as const;
const HALF_CALLS = 200;
/** A server that hangs, or is gone without a word, is found by the check of its health. */
const FOUND_MS = 5_000;

async function awayServer(t: TestContext, how: (typeof AWAY)[number]): Promise<number> {
  if (how === "refuses connections") return await boundPort(t);
  if (how === "takes connections and hangs") {
    const hanging = createServer(() => undefined);
    t.after(() => {
      hanging.closeAllConnections();
      hanging.close();
    });
    return await portOf(hanging);
  }
  // Nobody accepts, and the queue of two is full: further connections get no answer, as of a host that is gone.
  const script =
    "import socket,time\ns=socket.socket()\ns.bind(('127.0.0.1',0))\ns.listen(0)\nprint(s.getsockname()[1],flush=True)\n" +
    "k=[]\nfor _ in range(4):\n c=socket.socket()\n c.setblocking(False)\n c.connect_ex(s.getsockname())\n k.append(c)\ntime.sleep(900)";
  return await printedPort(t, script);
}

async function halfAway(t: TestContext, proxyName: string, how: (typeof AWAY)[number]) {
  const service = createServer(living((_, response) => response.writeHead(400).end("no")));
  t.after(() => {
    service.closeAllConnections();
    service.close();
  });
  const away = await awayServer(t, how);
  const { url } = await startProxy(
    t,
    proxyName,
    [await portOf(service), away],
    how === "refuses connections" ? PATIENT : AS_SHIPPED,
  );
  if (how !== "refuses connections" && proxyName !== "nginx") {
    await post(`${url}/hooks/0123`, "{}"); // of these some wait, and are let in
    await post(`${url}/hooks/0123`, "{}");
    await pause(FOUND_MS);
  }
  const left = Array.from({ length: HALF_CALLS }, () => "{}");
  const seen = new Map<number | undefined, number>();
  const ask = async (): Promise<void> => {
    while (left.pop() !== undefined) {
      const { status } = await post(`${url}/hooks/0123`, "{}", SECRET);
      seen.set(status, (seen.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  assert.deepEqual([...seen], [[400, HALF_CALLS]]);
}

const CALLS = 160;
const AT_ONCE = 20;

/** Every name is new, so that no answer is known before. */
async function statusesOf(url: string, secret: string): Promise<Readonly<Record<string, number>>> {
  const seen: Record<string, number> = {};
  const left = Array.from(
    { length: CALLS },
    (_, at) => `jo@new-${String(at)}-${String(performance.now())}.mailinator.com`,
  );
  const ask = async (): Promise<void> => {
    for (let email = left.pop(); email !== undefined; email = left.pop()) {
      const { status } = await post(url, JSON.stringify({ email }), `Bearer ${secret}`);
      seen[String(status)] = (seen[String(status)] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, ask));
  return seen;
}

let world: Awaited<ReturnType<typeof startServiceWorld>>;
let hook = { id: "", secret: "" };
/** A name server that never answers. */
const dns = createSocket("udp4");

before(async () => {
  dns.bind(0, "127.0.0.1");
  await once(dns, "listening");
  const settings = {
    GATEPOST_TRUST_PROXY: "127.0.0.1",
    GATEPOST_DNS_SERVERS: `127.0.0.1:${String(dns.address().port)}`,
  };
  world = await startServiceWorld({ settings });
  const { account_id: account } = createAccount(world.home, "jo@shop.example");
  const made = gatepost(world.home, ["hook", "create", account, "kratos", "--json"]);
  hook = JSON.parse(made.out) as typeof hook;
});

after(async () => {
  dns.close();
  await world.close();
});

for (const proxyName of Object.keys(PROXIES)) {
  const program = programOf(proxyName);
  const missing = hasTool(program, program === "nginx" ? "-v" : "version") ? [] : [program];
  const testProxy = (rule: string, body: (t: TestContext) => Promise<void>): void =>
    testWith([program], missing, `${proxyName}: ${rule}`, body);
  testProxy("sign-ups go on while the service is dead or hangs", (t) => throughProxy(t, proxyName));
  for (const how of proxyName === "caddy" ? [] : AWAY) {
    // nginx looks by itself at nobody's health: calls that hang are let in until one of them fails.
    if (program === "nginx" && how === "takes connections and hangs") continue;
    testProxy(`nobody is let in while one of two servers ${how}`, (t) =>
      halfAway(t, proxyName, how),
    );
  }
  testProxy("no listed address comes in while DNS is silent", async (t) => {
    const { url } = await startProxy(
      t,
      proxyName,
      [Number(new URL(world.service.url).port)],
      PATIENT,
    );
    assert.deepEqual(await statusesOf(`${url}/hooks/${hook.id}`, hook.secret), { "400": CALLS });
  });
}
