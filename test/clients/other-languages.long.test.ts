import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { testAuthority } from "../process/certificates.ts";
import { testWithTools } from "../process/require-tool.ts";
import { type RunningWorld, startClientWorld } from "./client-world.ts";
import { assertAsTheTableSays, type Seen } from "./compare.ts";
import { passingFaults, runReach } from "./reach.ts";
import { startTlsService, type TlsService } from "./tls-service.ts";
import { temporaryFolder } from "../process/temporary-folder.ts";

const run = promisify(execFile);
const CLIENTS = fileURLToPath(new URL("../../../clients", import.meta.url));
/** PHP waits for one answer at a time. */
const PHP_PROCESSES = 6;

suite("clients in other languages do what clients/cases.json says", () => {
  let world: RunningWorld;
  let tls: TlsService;
  let folder = "";

  before(async () => {
    world = await startClientWorld();
    folder = temporaryFolder();
    const { service, key, faults } = world;
    tls = await startTlsService();
    const authority = join(folder, "authority.pem");
    writeFileSync(authority, testAuthority);
    const about = { service, key, faults, tls: tls.url, authority };
    writeFileSync(join(folder, "world.json"), JSON.stringify(about));
  });

  after(async () => {
    await tls.close();
    await world.close();
  });

  const seenBy = async (program: string, ...words: readonly string[]): Promise<Seen> => {
    const { stdout } = await run(program, words, { cwd: CLIENTS, maxBuffer: 16_777_216 });
    return JSON.parse(stdout) as Seen;
  };

  for (const mode of ["sync", "async"]) {
    testWithTools(["python3"], `Python, ${mode}`, async () => {
      const program = ["-B", "-W", "error", "python/tests/run_cases.py"];
      const before = tls.connections();
      assertAsTheTableSays(await seenBy("python3", ...program, mode, join(folder, "world.json")));
      assert.equal(tls.connections() - before, 1);
    });
  }

  testWithTools(["php"], "PHP", async () => {
    const shares = Array.from({ length: PHP_PROCESSES }, (_, share) => String(share));
    const of = String(PHP_PROCESSES);
    const before = tls.connections();
    const parts = await Promise.all(
      shares.map((share) =>
        seenBy("php", "php/tests/run_cases.php", join(folder, "world.json"), share, of),
      ),
    );
    assert.equal(tls.connections() - before, PHP_PROCESSES);
    const [first] = parts;
    if (first === undefined) throw new Error("no part");
    const decide = Object.assign({}, ...parts.map((part) => part.decide)) as Seen["decide"];
    assertAsTheTableSays({ ...first, decide });
  });

  // The last one: it kills the service.
  testWithTools(["python3", "php"], "no sign-up is lost or stopped for nothing", async () => {
    const file = join(folder, "reach.json");
    const { service, key, faults } = world;
    writeFileSync(file, JSON.stringify({ service, key, faults: passingFaults(faults) }));
    const python = ["python3", "-B", "-W", "error", "python/tests/reach.py"] as const;
    const programs = [
      [...python, "sync", file, "400"],
      [...python, "async", file, "400"],
      ["php", "php/tests/reach.php", file, "200"],
    ] as const;
    for (const seen of await runReach(programs, () => world.kill())) {
      const { count, answered, blocked_wrongly: blocked, let_in_wrongly: letIn } = seen;
      assert.deepEqual([answered, blocked, letIn], [count, 0, 0]);
      assert.deepEqual(Object.keys(seen.sources).sort(), ["away", "service"]);
    }
  });
});
