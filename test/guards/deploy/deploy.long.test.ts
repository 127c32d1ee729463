import assert from "node:assert/strict";
import { execFile, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { allCommands } from "../../../src/main/commands.ts";
import { SETTINGS } from "../../../src/main/settings/config.ts";
import { DEFAULT_LIMITS } from "../../../src/http/server.ts";
import { UPLOAD_MAX_OCTETS } from "../../../src/bulk/read-upload.ts";
import { namesInEnvFile, readText, readYaml } from "./deploy-files.ts";
import { recordingTerminal } from "../../process/recording-terminal.ts";

const root = new URL("../../../../", import.meta.url);
const settings = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));
const commands = new Set(allCommands(recordingTerminal()).map((command) => command.name()));
const stopMs = DEFAULT_LIMITS.stopTimeoutMs;

const unknown = (names: Iterable<string>): readonly string[] =>
  [...names].filter((name) => !settings.has(name));

// The image.

const dockerfile = readText("deploy/Dockerfile").replaceAll("\\\n", " ");
const instructions = dockerfile
  .split("\n")
  .filter((line) => /^[A-Z]+ /.test(line))
  .map((line) => line.trim().replaceAll(/ +/g, " "));
const last = instructions.slice(instructions.findLastIndex((line) => line.startsWith("FROM ")));
const one = (word: string): string => last.find((line) => line.startsWith(`${word} `)) ?? "";

test("Dockerfile: every variable is a setting, and the port matches", () => {
  const pairs = one("ENV").slice(4).split(" ");
  const names = pairs.map((pair) => pair.split("=")[0] ?? "");
  assert.deepEqual(unknown(names), ["NODE_ENV"]);
  assert.ok(pairs.includes("HOST=0.0.0.0") && pairs.includes("GATEPOST_DATA_DIR=/data"));
  assert.ok(pairs.includes(`PORT=${one("EXPOSE").slice(7)}`));
});

test(".dockerignore excludes everything except what exists and is needed", () => {
  const lines = readText(".dockerignore")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  assert.equal(lines[0], "*");
  const let_in = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const missing = let_in.filter((name) => !existsSync(new URL(name, root)));
  assert.deepEqual(missing, []);
  const builds = readdirSync(root).filter((name) =>
    /^(?:tsconfig.*\.json|vite\..*\.ts)$/.test(name),
  );
  const needed = ["src", "package-lock.json", "scripts/build.mjs", "deploy/health-check.mjs"];
  for (const name of [...needed, ...builds]) assert.ok(let_in.includes(name), name);
});

// The health check.

async function healthCheck(t: TestContext, status: number | undefined, variable: string) {
  const server = createServer((_, response) => response.writeHead(status ?? 200).end());
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  t.after(() => server.close());
  if (status === undefined) server.close();
  const script = fileURLToPath(new URL("deploy/health-check.mjs", root));
  const env = { HOST: "0.0.0.0", PORT: "1", [variable]: String(port) };
  return await new Promise<number>((resolve) => {
    execFile(process.execPath, [script], { env }, (error) => resolve(Number(error?.code ?? 0)));
  });
}

const checks = [
  ["an API that answers is healthy", 200, "PORT", 0],
  ["a worker that answers is healthy", 200, "GATEPOST_WORKER_PORT", 0],
  ["a process that answers 503 is not", 503, "PORT", 1],
  ["a process that does not listen is not", undefined, "PORT", 1],
] as const;

for (const [name, status, variable, code] of checks) {
  test(`health check: ${name}`, async (t) => {
    assert.equal(await healthCheck(t, status, variable), code);
  });
}

// Compose.

interface Service {
  readonly image?: string;
  readonly build?: { readonly context: string; readonly dockerfile: string };
  readonly command?: readonly string[];
  readonly secrets?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly restart?: string;
  readonly healthcheck?: object;
  readonly networks:
    readonly string[] | Readonly<Record<string, { readonly ipv4_address?: string }>>;
  readonly stop_grace_period?: string;
  readonly read_only?: boolean;
  readonly volumes?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, object>>;
  readonly volumes: Readonly<Record<string, object>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
}

const compose = readYaml<Compose>("deploy/compose.yaml");
const services = Object.entries(compose.services);
const ours = services.filter(([, { image }]) => image?.startsWith("gatepost:"));
const networksOf = ({ networks }: Service): readonly string[] =>
  Array.isArray(networks) ? (networks as readonly string[]) : Object.keys(networks);
const addressOf = ({ networks }: Service): string =>
  Array.isArray(networks)
    ? ""
    : ((Object.values(networks)[0] as { ipv4_address?: string }).ipv4_address ?? "");

for (const [name, service] of services) {
  test(`compose: ${name} waits for services that exist and have a health check`, () => {
    for (const [needed, { condition }] of Object.entries(service.depends_on ?? {})) {
      const other = compose.services[needed];
      assert.ok(other !== undefined, needed);
      const tells = other.healthcheck !== undefined || other.image?.startsWith("gatepost:");
      if (condition === "service_healthy") assert.ok(tells, needed);
      if (condition === "service_completed_successfully") assert.equal(other.restart, "no");
    }
  });

  test(`compose: every file of ${name} exists`, () => {
    const { build } = service;
    const context = new URL(`deploy/${build?.context ?? "."}/`, root);
    if (build !== undefined) assert.ok(existsSync(new URL(build.dockerfile, context)));
    for (const volume of service.volumes ?? []) {
      const [source = ""] = volume.split(":");
      if (source.startsWith(".")) assert.ok(existsSync(new URL(`deploy/${source}`, root)), source);
      else assert.ok(source in compose.volumes, source);
    }
  });
}

for (const [name, { command = [], environment = {}, ...service }] of ours) {
  test(`compose: ${name} runs one of our commands with existing settings, and has enough time to stop`, () => {
    assert.ok(commands.has(command[0] ?? ""), command[0]);
    assert.deepEqual(unknown(Object.keys(environment)), []);
    assert.ok(Number.parseInt(service.stop_grace_period ?? "", 10) * 1_000 > stopMs);
    assert.equal(service.read_only, true);
    assert.equal(
      environment["GATEPOST_TRUST_PROXY"],
      addressOf(compose.services["proxy"] as Service),
    );
    assert.equal(
      environment["GATEPOST_DNS_SERVERS"],
      addressOf(compose.services["unbound"] as Service),
    );
  });
}

test("compose: the proxy reaches the API only through the network of its trusted address", () => {
  const proxy = networksOf(compose.services["proxy"] as Service);
  const api = networksOf(compose.services["api-1"] as Service);
  assert.deepEqual(
    proxy.filter((network) => api.includes(network)),
    ["inside"],
  );
});

test("the image reads files of secrets as settings and nothing else of that folder", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "secrets-"));
  t.after(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "GATEPOST_METRICS_TOKEN"), 'a "b" $c\n');
  writeFileSync(join(folder, "PATH"), "/nowhere");
  const script = readText("deploy/entrypoint.sh")
    .replaceAll("/run/secrets", folder)
    .replace(/exec node .*/, 'printf "%s|%s" "$GATEPOST_METRICS_TOKEN" "$PATH"');
  const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8", env: { PATH: "/bin" } });
  assert.equal(stdout, 'a "b" $c|/bin');
});

test("compose: secrets are files: on no command line and in no environment", () => {
  const SECRET = /PASSWORD|TOKEN|SECRET|_URL$/;
  const isOpen = (name: string): boolean =>
    name !== "GATEPOST_PUBLIC_URL" && !name.endsWith("_FILE");
  for (const [name, { environment = {}, command = [], secrets = [] }] of services) {
    const open = Object.keys(environment).filter((key) => SECRET.test(key) && isOpen(key));
    assert.deepEqual(open, [], name);
    assert.doesNotMatch(command.join(" "), /--requirepass|--password[= ]/, name);
    for (const secret of secrets) assert.ok(secret in compose.secrets, secret);
  }
  const made = [...readText("deploy/make-secrets.sh").matchAll(/^keep (\w+)/gm)].map(
    (all) => all[1],
  );
  assert.deepEqual(new Set(made), new Set(Object.keys(compose.secrets)));
  for (const [name, { file }] of Object.entries(compose.secrets)) {
    assert.equal(file, `./secrets/${name}`);
  }
  const ignored = readText(".gitignore").split("\n");
  assert.ok(ignored.includes("deploy/secrets/"));
  assert.deepEqual(readText("deploy/.dockerignore").match(/^\*$/m)?.length, 1);
});

test("compose: .env.example names every used variable and holds no secret", () => {
  const used = [...readText("deploy/compose.yaml").matchAll(/(?<!\$)\$\{(\w+)/g)].map(
    ([, name = ""]) => name,
  );
  const text = readText("deploy/.env.example");
  assert.deepEqual([...new Set(used)].sort(), [...namesInEnvFile(text)].sort());
  assert.deepEqual(text.match(/^\w*(?:PASSWORD|KEY|TOKEN)=.+$/gm), null);
});

test("Caddyfile: limits of bodies, waiting and connections match the service", () => {
  const text = readText("deploy/Caddyfile");
  const found = (pattern: RegExp): string => pattern.exec(text)?.[1] ?? "";
  assert.ok(Number(found(/max_size (\d+)MB/)) * 1e6 > UPLOAD_MAX_OCTETS + 65_536);
  assert.ok(Number(found(/keepalive (\d+)s/)) * 1_000 < DEFAULT_LIMITS.keepAliveTimeoutMs);
  assert.ok(Number(found(/read_body (\d+)s/)) * 1_000 > DEFAULT_LIMITS.requestTimeoutMs);
  assert.match(text, /flush_interval -1/);
  assert.equal(found(/health_uri (\S+)/), "/healthz");
  const upstreams = found(/reverse_proxy (.+) \{/).split(" ");
  const apis = ours.filter(([, { command }]) => command?.[0] === "serve");
  assert.deepEqual(
    upstreams,
    apis.map(([name]) => `${name}:8080`),
  );
});
