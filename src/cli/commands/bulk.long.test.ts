import { strict as assert } from "node:assert";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { startDnsServer } from "../../../test/dns/dns-server.ts";
import { inPatience, until } from "../../../test/time/until.ts";

/** Fifteen seconds of work at ten entries a millisecond, and no machine is faster: what is to be killed is at work. */
const MANY = Array.from({ length: 150_000 }, (_, at) => `e${String(at)}@x.example`);
const WHOLE = `${MANY.join("\n")}\n`;

const SLOW = fileURLToPath(new URL("../../../test/bulk/bulk-command-process.js", import.meta.url));
const GATEPOST = fileURLToPath(new URL("../../main/gatepost.js", import.meta.url));

interface Place {
  readonly input: string;
  readonly out: string;
}

async function place(t: TestContext): Promise<Place> {
  const dir = await mkdtemp(join(tmpdir(), "gatepost-bulk-"));
  t.after(() => rm(dir, { recursive: true }));
  const [input, out] = [join(dir, "in.txt"), join(dir, "out.txt")];
  await writeFile(input, MANY.join("\n"));
  return { input, out };
}

interface Child {
  readonly process: ChildProcess;
  readonly err: Promise<string>;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

function start(t: TestContext, { input, out }: Place): Child {
  const child = spawn(process.execPath, [SLOW, input, "--out", out], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  t.after(() => child.kill("SIGKILL"));
  const ended = once(child, "exit").then(([code, signal]) => (code ?? signal) as number | string);
  return { process: child, err: text(child.stderr), ended: inPatience("the end of a run", ended) };
}

/** Waits until the run has written something. */
const written = (path: string): Promise<true> =>
  until(async () => ((await stat(path).catch(() => undefined))?.size ?? 0) > 0, { what: path });

test("the first Ctrl-C finishes what is under way and says where the output ends", async (t) => {
  const here = await place(t);
  const child = start(t, here);
  await written(here.out);
  child.process.kill("SIGINT");
  assert.equal(await child.ended, 3);
  assert.match(
    await child.err,
    /Finishing what is running; press Ctrl-C again to quit now[^]*stopped after [\d,]+ rows/,
  );
  const part = await readFile(here.out, "utf8");
  assert.ok(part.endsWith("\n") && WHOLE.startsWith(part) && part.length < WHOLE.length);
});

test("the second Ctrl-C leaves at once", async (t) => {
  const here = await place(t);
  const child = start(t, here);
  await written(here.out);
  child.process.kill("SIGINT");
  await once(child.process.stderr ?? child.process, "data");
  child.process.kill("SIGINT");
  assert.equal(await child.ended, 130);
});

test("the installed command reads standard input, asks DNS and writes standard output", async (t) => {
  const server = await startDnsServer({
    "good.example": { mx: ["10 mx.good.example"] },
    "mx.good.example": { a: ["203.0.113.5"] },
  });
  t.after(() => server.close());
  const child = spawn(process.execPath, [GATEPOST, "bulk", "-"], {
    env: { ...process.env, GATEPOST_DNS_SERVERS: `127.0.0.1:${String(server.port)}` },
  });
  t.after(() => child.kill("SIGKILL"));
  child.stdin.end("Name,Mail\nAda,ada@good.example\nBob,bob@bad.example\n");
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const rows = out.split("\n").map((row) => row.split(",").slice(0, 3).join());
  assert.deepEqual(rows, [
    "Name,Mail,status",
    "Ada,ada@good.example,valid",
    "Bob,bob@bad.example,invalid_dns",
    "",
  ]);
  assert.match(
    err,
    /^Read the column "Mail"\.\n2 entries: 1 valid, 0 disposable, 1 without mail server, 0 malformed/,
  );
});
