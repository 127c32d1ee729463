import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { allCommands } from "../../../src/main/commands.ts";
import { SETTINGS } from "../../../src/main/settings/config.ts";
import { RESOURCES } from "../../../src/base/resources.ts";
import { DEFAULT_LIMITS } from "../../../src/http/server.ts";
import { namesInEnvFile, readText, readUnit } from "./deploy-files.ts";
import { recordingTerminal } from "../../process/recording-terminal.ts";
import { testWithTools } from "../../process/require-tool.ts";
import { pageBlocks } from "../../suites/samples/guide-blocks.ts";

const UNITS = ["gatepost.service", "gatepost-worker@.service"] as const;
const settings = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));
const commands = new Set(allCommands(recordingTerminal()).map((command) => command.name()));

for (const name of UNITS) {
  const text = readText(`deploy/systemd/${name}`);
  const unit = readUnit(text);
  const only = (key: string): string => unit.get(key)?.at(-1) ?? "missing";

  test(`${name} runs one of our commands with settings that exist`, () => {
    const [node, script = "", command = ""] = only("ExecStart").split(" ");
    assert.equal(node, "/usr/bin/node");
    assert.ok(
      existsSync(new URL(`../../../../${script.replace("/opt/gatepost/", "")}`, import.meta.url)),
    );
    assert.ok(commands.has(command), command);
    const names = (unit.get("Environment") ?? []).map((pair) => pair.split("=")[0] ?? "");
    assert.deepEqual(
      names.filter((each) => !settings.has(each)),
      [],
    );
  });

  test(`${name} gives running work time to finish`, () => {
    assert.ok(Number(only("TimeoutStopSec")) * 1_000 > DEFAULT_LIMITS.stopTimeoutMs);
    assert.equal(only("KillSignal"), "SIGTERM");
    assert.equal(only("Restart"), "always");
    assert.equal(
      only("StartLimitIntervalSec"),
      "0",
      "otherwise systemd gives up after five starts",
    );
    assert.ok(Number(only("LimitNOFILE")) > RESOURCES.connections.total * 2);
  });
}

test("the example settings exist, and none of them is a secret", () => {
  const text = readText("deploy/systemd/gatepost.env.example");
  const names = namesInEnvFile(text);
  assert.ok(names.length > 5);
  assert.deepEqual(
    names.filter((name) => !settings.has(name)),
    [],
  );
  assert.match(text, /^#GATEPOST_SECRET_KEY=$/m);
});

/** The lines of the page that fill /opt/gatepost, done in another folder. */
function installAsThePageSays(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "gatepost-installed-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const line = /^install -d \/opt\/gatepost.*$/m.exec(readText("docs/operations/install.md"))?.[0];
  const script = (line ?? "false")
    .replaceAll("/opt/", `${folder}/opt/`)
    .replaceAll("/etc/", `${folder}/etc/`);
  const root = fileURLToPath(new URL("../../../../", import.meta.url));
  assert.equal(spawnSync("sh", ["-ec", script], { cwd: root }).status, 0);
  const program = join(folder, "opt/gatepost");
  symlinkSync(join(root, "node_modules"), join(program, "node_modules"));
  return program;
}

const environment = (program: string): NodeJS.ProcessEnv => ({
  PATH: process.env["PATH"],
  PORT: "0",
  GATEPOST_DATA_DIR: join(program, "data"),
  GATEPOST_LISTS_REFRESH: "off",
  GATEPOST_DNS_SERVERS: "127.0.0.1:9",
});

test("what the systemd page copies starts, and names a file that it lacks", async (t) => {
  const program = installAsThePageSays(t);
  const words = [join(program, "dist/run/gatepost.js"), "serve"];
  const child = spawn(process.execPath, words, { env: environment(program) });
  t.after(() => child.kill("SIGKILL"));
  const [seen] = (await once(child.stderr, "data")) as [Buffer];
  assert.match(seen.toString(), /^Gatepost listens on http:\/\/127\.0\.0\.1:\d+/);
  child.kill("SIGKILL");
  await once(child, "exit");
  rmSync(join(program, "feeds"), { recursive: true });
  const refused = spawnSync(process.execPath, words, {
    env: environment(program),
    encoding: "utf8",
  });
  assert.match(refused.stderr, /opt\/gatepost\/feeds\/castle\.csv: missing from this installation/);
  assert.equal(refused.status, 3);
});

/** The back-up page's timer, with the program of this checkout in place of the installed one. */
test("the back-up service copies the database and deletes copies after 14 days", async (t) => {
  const [service = ""] = pageBlocks("docs/operations/back-up.md", "ini");
  const folder = mkdtempSync(join(tmpdir(), "gatepost-timer-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const program = fileURLToPath(new URL("../../../../dist/run/gatepost.js", import.meta.url));
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

testWithTools(["systemd-analyze"], "systemd accepts the units and the timer", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gatepost-units-"));
  const [service = "", timer = ""] = pageBlocks("docs/operations/back-up.md", "ini");
  const files = [
    ...UNITS.map((name) => [name.replace("@.", "@9090."), readText(`deploy/systemd/${name}`)]),
    ["gatepost-backup.service", service],
    ["gatepost-backup.timer", timer],
  ] as const;
  for (const [name = "", text = ""] of files) {
    writeFileSync(join(folder, name), text.replace("/usr/bin/node", process.execPath));
  }
  const paths = files.map(([name = ""]) => join(folder, name));
  const words = ["verify", "--man=no", ...paths];
  const { stderr } = spawnSync("systemd-analyze", words, { encoding: "utf8" });
  rmSync(folder, { recursive: true });
  assert.deepEqual(
    stderr.split("\n").filter((line) => line.includes("gatepost")),
    [],
  );
  return Promise.resolve();
});
