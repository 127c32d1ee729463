// Questions and CPU of premium checks with answers in memory, and how the cost of parsers grows with hostile
// records. CPU is that of this process, so a busy machine changes it little; compare rows of one run.
import { FEATURES } from "../src/core/checks/registry.ts";
import { isDmarcText, parsePolicyRecord } from "../src/core/checks/dmarc/dmarc.ts";
import { readKey } from "../src/core/checks/dkim/dkim.ts";
import { runChecks } from "../src/core/checks/run.ts";
import { isSpfText, parseSpf } from "../src/core/checks/spf/spf-record.ts";
import { findMailHosts } from "../src/core/mail/mail-hosts.ts";
import { checkDeps, domainOf } from "../test/process/check-run.ts";
import { type Zone, zoneLookup } from "../test/dns/zone-lookup.ts";

const print = (line: string): void => void process.stdout.write(`${line}\n`);

const NAME = "shop.example";
const KEY = "v=DKIM1; k=rsa; p=MIGfMA0=";
const MAIL: Zone = {
  [NAME]: { mx: ["10 mx.shop.example"], txt: ["v=spf1 mx -all"], registered: "2020-01-01" },
  "mx.shop.example": { a: ["192.0.2.1"] },
  [`_dmarc.${NAME}`]: { txt: ["v=DMARC1; p=reject"] },
};
const keyed = (...selectors: string[]): Zone =>
  Object.fromEntries(selectors.map((name) => [`${name}._domainkey.${NAME}`, { txt: [KEY] }]));
const withTxt = (txt: readonly string[]): Zone => ({ ...MAIL, [NAME]: { ...MAIL[NAME], txt } });

const WORLDS: readonly [name: string, zone: Zone][] = [
  ["all set up, three keys", { ...MAIL, ...keyed("google", "selector1", "selector2") }],
  ["all set up, one key", { ...MAIL, ...keyed("default") }],
  ["no key found", MAIL],
  ["nothing published", {}],
  ["SPF of 64 KB", withTxt([`v=spf1 ${"ip4:192.0.2.1 ".repeat(4_600)}-all`])],
  ["1,000 TXT records", withTxt(Array.from({ length: 1_000 }, (_, index) => `site=${index}`))],
];

const cpuMs = (since: NodeJS.CpuUsage): number => process.cpuUsage(since).user / 1_000;

async function measure(zone: Zone, rounds: number): Promise<readonly [number, number]> {
  const domain = domainOf(NAME);
  const mail = await findMailHosts(NAME, zoneLookup(zone), false);
  const asked = { features: FEATURES, spamTrap: true };
  let questions = 0;
  const began = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) {
    const lookup = zoneLookup(zone);
    await runChecks(asked, { domain, mail }, checkDeps(lookup));
    questions = lookup.asked.filter((line) => !line.startsWith("registration ")).length;
  }
  return [questions, cpuMs(began) / rounds];
}

for (const [name, zone] of WORLDS) {
  await measure(zone, 200); // warms the compiler up
  const [questions, milliseconds] = await measure(zone, 1_000);
  print(`${name}: ${questions} questions, ${milliseconds.toFixed(3)} ms CPU`);
}

/** Texts designed to be slow, read at 32 KB and at 64 KB. A linear reader takes twice as long. */
const HOSTILE: readonly [
  name: string,
  make: (octets: number) => string,
  read: (text: string) => unknown,
][] = [
  ["SPF, one-letter terms", (n) => `v=spf1 ${"a ".repeat(n / 2)}`, parseSpf],
  ["SPF, slashes", (n) => `v=spf1 a:${"/".repeat(n)}`, parseSpf],
  ["SPF, one label", (n) => `v=spf1 include:${"a".repeat(n)}.b`, parseSpf],
  ["SPF, dots", (n) => `v=spf1 redirect=${".a".repeat(n / 2)}`, parseSpf],
  ["SPF, macros", (n) => `v=spf1 exists:${"%{d}".repeat(n / 4)}`, parseSpf],
  ["SPF, open macros", (n) => `v=spf1 exists:a${"%%{d".repeat(n / 4)}`, parseSpf],
  ["SPF, blanks", (n) => `v=spf1${" ".repeat(n)}x:`, parseSpf],
  ["SPF, modifiers", (n) => `v=spf1 ${"b=c ".repeat(n / 4)}`, parseSpf],
  ["version, blanks", (n) => `v${" ".repeat(n)}`, (text) => [isSpfText(text), isDmarcText(text)]],
  ["DMARC, tags", (n) => `v=DMARC1;${"x=y;".repeat(n / 4)}`, parsePolicyRecord],
  ["DMARC, rua of commas", (n) => `v=DMARC1;p=x;rua=${",a:b".repeat(n / 4)}`, parsePolicyRecord],
  ["DKIM, blanks in p", (n) => `p=a${" ".repeat(n)}!`, readKey],
  ["DKIM, equals signs", (n) => `p=${"=".repeat(n)}`, readKey],
  ["DKIM, services", (n) => `p=a;s=${"x:".repeat(n / 2)}`, readKey],
];

function readMs(text: string, read: (text: string) => unknown): number {
  const began = process.cpuUsage();
  for (let round = 0; round < 100; round += 1) read(text);
  return cpuMs(began) / 100;
}

for (const [name, make, read] of HOSTILE) {
  readMs(make(32_768), read);
  const half = readMs(make(32_768), read);
  const whole = readMs(make(65_536), read);
  print(`${name}: 64 KB in ${whole.toFixed(3)} ms, ${(whole / half).toFixed(1)} times 32 KB`);
}
