/**
 * `npm run bench:peers`: 10,000 distinct names, the same names again, and the cases of the suite through the library, the
 * service, npm's deep-email-validator and PyPI's email-validator, each in a fresh process, on one DNS server that answers at
 * once. BENCH_PEERS names the folder of `npm install deep-email-validator` and `pip install --target python email-validator`.
 * What is not there is skipped and said. Both are asked without SMTP, which Gatepost does not speak.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { trimEntry } from "../src/core/address/address.ts";
import { startNameServer } from "../test/dns/numbered-names.ts";
import { makeHome, startService } from "../test/e2e/service-process.ts";
import { sized } from "./short.ts";
import { cpuOf, memoryOf } from "./usage.ts";

const COUNT = sized(10_000, 200);
const FOLDER = process.env["BENCH_PEERS"] ?? "";
const ROOT = fileURLToPath(new URL("../..", import.meta.url));

interface Contestant {
  readonly name: string;
  /** Undefined: it is not installed. */
  readonly words: readonly [program: string, ...words: string[]] | undefined;
  readonly environment?: Readonly<Record<string, string>>;
  /** Works for it, and is measured with it. */
  readonly beside?: ChildProcess;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const script = (name: string): string => fileURLToPath(new URL(`peers/${name}`, import.meta.url));

const FIXTURE = readFileSync(join(ROOT, "test/fixtures/email-format-cases.json"), "utf8");
/** Malformed addresses of our fixture, without bare domains and without half characters, which a URL cannot carry. */
const MALFORMED = (
  JSON.parse(FIXTURE) as { cases: readonly { readonly input: string; readonly format: boolean }[] }
).cases.filter(
  ({ input, format }) =>
    !format &&
    input === trimEntry(input) &&
    input.includes("@") &&
    Buffer.from(input).toString() === input,
);
/** Listed for years; a visitor with one is refused. */
const LISTED = ["mailinator.com", "guerrillamail.com", "yopmail.com", "sharklasers.com"];

async function measure({ name, words, environment = {}, beside }: Contestant): Promise<void> {
  if (words === undefined) {
    say(`${name}: skipped, not installed`);
    return;
  }
  const [program, ...rest] = words;
  const env = { ...process.env, ...environment };
  const child = spawn(program, rest, { stdio: ["pipe", "pipe", "inherit"], env });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  await next();
  const ask = async (addresses: readonly string[]): Promise<readonly boolean[]> => {
    child.stdin.write(`${JSON.stringify(addresses)}\n`);
    return JSON.parse(await next()) as readonly boolean[];
  };
  const cpu = (): number => cpuOf(child) + (beside === undefined ? 0 : cpuOf(beside));
  const said: string[] = [];
  const addresses = Array.from({ length: COUNT }, (_, at) => `jo@d${String(at)}.peers.co`);
  await ask(Array.from({ length: COUNT / 10 }, (_, at) => `jo@d${String(at)}.warm.co`));
  for (const what of ["distinct", "again"]) {
    const [startMs, startCpu] = [performance.now(), cpu()];
    const good = (await ask(addresses)).filter(Boolean).length;
    const perSecond = COUNT / ((performance.now() - startMs) / 1_000);
    said.push(
      `${what} ${perSecond.toFixed(0)} a second, ${((cpu() - startCpu) / COUNT).toFixed(0)} us, ${String(COUNT - good)} lost`,
    );
  }
  const peak = memoryOf(child).peak + (beside === undefined ? 0 : memoryOf(beside).peak);
  const wrong = (await ask(MALFORMED.map(({ input }) => input))).filter(Boolean).length;
  const listed = (await ask(LISTED.map((domain) => `jo@${domain}`))).filter(Boolean).length;
  say(
    `${name}: ${said.join("; ")}; ${peak.toFixed(0)} MB; of ${String(MALFORMED.length)} malformed addresses ${String(wrong)} accepted, ` +
      `of ${String(LISTED.length)} listed domains ${String(listed)}`,
  );
  child.stdin.end();
  await once(child, "exit");
}

const dns = await startNameServer({ delayMs: 0, lossShare: 0, deadEvery: 0 });
const home = makeHome({
  GATEPOST_DNS_SERVERS: dns.address,
  GATEPOST_DNS_CANARIES: "off",
  GATEPOST_MAX_CONNECTIONS_PER_ADDRESS: "1000",
  LOG_LEVEL: "error",
});
const tiers = join(home.directory, "tiers.json");
const ample = { rate_per_minute: 1e9, daily: 1e9, monthly: 1e9 };
writeFileSync(tiers, JSON.stringify({ anonymous: ample }));
const service = await startService(home, { GATEPOST_TIERS_FILE: tiers });
const node = process.execPath;
const python = join(FOLDER, "python");
try {
  for (const contestant of [
    { name: "library", words: [node, script("gatepost-library.js"), dns.address] },
    {
      name: "service and its client",
      words: [node, script("gatepost-service.js"), service.url],
      beside: service.child,
    },
    {
      name: "deep-email-validator (npm)",
      words: existsSync(join(FOLDER, "node_modules/deep-email-validator"))
        ? [node, script("deep-email-validator.js"), dns.address, FOLDER]
        : undefined,
    },
    {
      name: "email-validator (PyPI)",
      words: existsSync(join(python, "email_validator"))
        ? ["python3", join(ROOT, "bench/peers/email_validator_lines.py"), dns.address]
        : undefined,
      environment: { PYTHONPATH: python },
    },
  ] satisfies readonly Contestant[])
    await measure(contestant);
} finally {
  await service.stop();
  home.remove();
  dns.stop();
}
