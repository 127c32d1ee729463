import { execFile, execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startClientWorld } from "../test/clients/client-world.ts";
import { runReach } from "../test/clients/reach.ts";

/**
 * What a client library adds to a bare round trip, and what happens to many sign-ups while the service is killed, slow
 * and lying: `npm run bench:clients -- 100000`.
 */
const count = Number(process.argv[2] ?? 2_000);
const ROUNDS = String(2_000);
const PHP_PROCESSES = 16;

const CLIENTS = fileURLToPath(new URL("../../clients", import.meta.url));
const TYPESCRIPT = fileURLToPath(new URL("../test/clients/typescript-reach.js", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "gatepost-bench-"));
const world = await startClientWorld();
try {
  const file = join(folder, "world.json");
  const { service, key, faults } = world;
  writeFileSync(file, JSON.stringify({ service, key, faults }));
  const python = ["python3", "-B", "python/tests/reach.py"] as const;
  const php = ["php", "php/tests/reach.php"] as const;
  const node = [process.execPath, TYPESCRIPT] as const;
  for (const [name, [command, ...words]] of [
    ["TypeScript", node],
    ["Python", python],
    ["PHP", php],
  ] as const) {
    const options = { cwd: CLIENTS, encoding: "utf8" } as const;
    const out = execFileSync(command, [...words, "overhead", file, ROUNDS], options);
    const { client, bare } = JSON.parse(out) as Readonly<Record<"client" | "bare", number>>;
    const ms = [client, bare, client - bare].map((value) => value.toFixed(3));
    console.log(`${name}: ${String(ms[0])} ms, bare ${String(ms[1])} ms, adds ${String(ms[2])} ms`);
  }
  const share = String(Math.ceil(count / PHP_PROCESSES));
  const programs = [
    [...node, "reach", file, String(count)],
    [...python, "sync", file, String(count)],
    [...python, "async", file, String(count)],
    ...Array.from({ length: PHP_PROCESSES }, () => [...php, file, share] as const),
  ] as const;
  // A busy machine makes sleeps end late too: compare with them.
  const asleep = [...python, "control", "-", String(Math.ceil(count / 10))].slice(1);
  const control = promisify(execFile)("python3", asleep, { cwd: CLIENTS });
  const seen = await runReach(programs, () => world.kill());
  console.log("sleeps", (await control).stdout.trim());
  for (const [at, each] of seen.entries()) {
    console.log(["TypeScript", "Python", "Python, asyncio"][at] ?? "PHP", JSON.stringify(each));
  }
} finally {
  await world.close();
  rmSync(folder, { recursive: true });
}
