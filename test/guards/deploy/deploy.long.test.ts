import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { commandsFor } from "../../../src/main/commands.ts";
import { SETTINGS } from "../../../src/main/settings/config.ts";
import { recordingTerminal } from "../../process/recording-terminal.ts";
import { testWithTools } from "../../process/require-tool.ts";
import { pageBlocks } from "../../suites/samples/guide-blocks.ts";
import { readText, readUnit, readYaml } from "./deploy-files.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

interface Service {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string | number>>;
}

const compose = readYaml<{ readonly services: Readonly<Record<string, Service>> }>(
  "deploy/compose.yaml",
);
const ours = Object.values(compose.services).filter(({ image }) => image?.startsWith("gatepost:"));
const UNITS = ["gatepost.service", "gatepost-worker@.service"] as const;
const units = UNITS.map((name) => readUnit(readText(`deploy/systemd/${name}`)));

test("every setting and every command that deploy/ names exists", async () => {
  const settings = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));
  const image = /^ENV ((?:.*\\\n)*.*)$/m.exec(readText("deploy/Dockerfile"))?.[1] ?? "";
  const example = readText("deploy/systemd/gatepost.env.example");
  const names = [
    ...[...image.matchAll(/([A-Z_]+)=/g), ...example.matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(
      ([, name = ""]) => name,
    ),
    ...ours.flatMap(({ environment = {} }) => Object.keys(environment)),
    ...units.flatMap((unit) => unit.get("Environment") ?? []).map((pair) => pair.split("=")[0]),
  ];
  const unknown = names.filter((name = "") => !settings.has(name) && name !== "NODE_ENV");
  assert.ok(names.length > 30);
  assert.deepEqual(unknown, []);
  const all = await commandsFor([], recordingTerminal());
  const commands = all.map((command) => command.name());
  const started = [
    ...ours.map(({ command = [] }) => command[0]),
    ...units.map((unit) => unit.get("ExecStart")?.[0]?.split(" ")[2]),
  ];
  assert.ok(started.length > 4);
  for (const name of started) assert.ok(commands.includes(name ?? ""), name);
});

async function healthCheck(t: TestContext, status: number | undefined, variable: string) {
  const server = createServer((_, response) => response.writeHead(status ?? 200).end());
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  t.after(() => server.close());
  if (status === undefined) server.close();
  const env = { HOST: "0.0.0.0", PORT: "1", [variable]: String(port) };
  return await new Promise<number>((resolve) => {
    execFile(process.execPath, [join(root, "deploy/health-check.mjs")], { env }, (error) =>
      resolve(Number(error?.code ?? 0)),
    );
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

test("the image reads files of secrets as settings and nothing else of that folder", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "GATEPOST_METRICS_TOKEN"), 'a "b" $c\n');
  writeFileSync(join(folder, "PATH"), "/nowhere");
  const script = readText("deploy/entrypoint.sh")
    .replaceAll("/run/secrets", folder)
    .replace(/exec node .*/, 'printf "%s|%s" "$GATEPOST_METRICS_TOKEN" "$PATH"');
  const { stdout } = spawnSync("sh", ["-c", script], { encoding: "utf8", env: { PATH: "/bin" } });
  assert.equal(stdout, 'a "b" $c|/bin');
});

test("what the systemd page copies starts, and names a file that it lacks", async (t) => {
  const folder = temporaryFolder();
  const line = /^install -d \/opt\/gatepost.*$/m.exec(readText("docs/operations/install.md"))?.[0];
  const script = (line ?? "false")
    .replaceAll("/opt/", `${folder}/opt/`)
    .replaceAll("/etc/", `${folder}/etc/`);
  assert.equal(spawnSync("sh", ["-ec", script], { cwd: root }).status, 0);
  const program = join(folder, "opt/gatepost");
  symlinkSync(join(root, "node_modules"), join(program, "node_modules"));
  const env = {
    PATH: process.env["PATH"],
    PORT: "0",
    GATEPOST_DATA_DIR: join(program, "data"),
    GATEPOST_LISTS_REFRESH: "off",
    GATEPOST_DNS_SERVERS: "127.0.0.1:9",
  };
  const words = [join(program, "dist/run/gatepost.js"), "serve"];
  const child = spawn(process.execPath, words, { env });
  t.after(() => child.kill("SIGKILL"));
  const [seen] = (await once(child.stderr, "data")) as [Buffer];
  assert.match(seen.toString(), /^Gatepost listens on http:\/\/127\.0\.0\.1:\d+/);
  child.kill("SIGKILL");
  await once(child, "exit");
  rmSync(join(program, "feeds"), { recursive: true });
  const refused = spawnSync(process.execPath, words, { env, encoding: "utf8" });
  assert.match(refused.stderr, /opt\/gatepost\/feeds\/castle\.csv: missing from this installation/);
  assert.equal(refused.status, 3);
});

/** The back-up page's timer, with the program of this checkout in place of the installed one. */
test("the back-up service copies the database and deletes copies after 14 days", () => {
  const [service = ""] = pageBlocks("docs/operations/back-up.md", "ini");
  const folder = temporaryFolder();
  const program = join(root, "dist/run/gatepost.js");
  const env = { PATH: process.env["PATH"], GATEPOST_DATA_DIR: join(folder, "data") };
  const created = [program, "account", "create", "a@x.example"];
  assert.equal(spawnSync(process.execPath, created, { env }).status, 0);
  const old = join(folder, "old.db");
  writeFileSync(old, "");
  utimesSync(old, 0, 0);
  const unit = readUnit(service);
  for (const name of ["ExecStart", "ExecStartPost"]) {
    const line = (unit.get(name)?.at(-1) ?? "false")
      .replaceAll("%%", "%")
      .replaceAll("/opt/gatepost/dist/run/gatepost.js", program)
      .replaceAll("/usr/bin/node", process.execPath)
      .replaceAll("/var/backups/gatepost", folder);
    const ran = spawnSync("sh", ["-c", line], { env, encoding: "utf8" });
    assert.equal(ran.status, 0, ran.stderr);
  }
  const copies = readdirSync(folder).filter((name) => name.endsWith(".db"));
  assert.equal(copies.length, 1);
  assert.match(copies[0] ?? "", /^\d{4}-\d\d-\d\d-\d{6}\.db$/);
});

testWithTools(["systemd-analyze"], "systemd accepts the units and the timer", () => {
  const folder = temporaryFolder();
  const [service = "", timer = ""] = pageBlocks("docs/operations/back-up.md", "ini");
  const files = [
    ...UNITS.map((name) => [name.replace("@.", "@9090."), readText(`deploy/systemd/${name}`)]),
    ["gatepost-backup.service", service],
    ["gatepost-backup.timer", timer],
  ] as const;
  const paths = files.map(([name = "", text = ""]) => {
    writeFileSync(join(folder, name), text.replace("/usr/bin/node", process.execPath));
    return join(folder, name);
  });
  const words = ["verify", "--man=no", ...paths];
  const { stderr } = spawnSync("systemd-analyze", words, { encoding: "utf8" });
  assert.deepEqual(
    stderr.split("\n").filter((line) => line.includes("gatepost")),
    [],
  );
  return Promise.resolve();
});
