/**
 * `npm run bench:detection LISTED LEGIT [ANSWERS]`: recall on the names of one file and false alarms on those of
 * another, in total and by signal, with the lists and by rules only. DNS is off unless a file of
 * recorded answers is given: "name<tab>mail hosts<tab>addresses", both separated by commas. Names are one a line. Ends
 * with how well `confidence` is calibrated: of the names with a confidence near p, p % should be disposable.
 */
import { readFileSync } from "node:fs";
import { FeedFiles } from "../../src/lists/feed-files.ts";
import { IN_USE } from "../../src/lists/feed-refresher.ts";
import { loadLists } from "../../src/lists/load-lists.ts";
import { openEmbedded } from "../../src/store/database.ts";
import { noRules } from "../../src/lists/shared-datasets.ts";
import { attachDatasets } from "../../src/lists/shared-datasets.ts";
import type { Datasets } from "../../src/core/evidence/datasets.ts";
import { type Domain, parseDomain } from "../../src/core/name/domain.ts";
import { domainVerdict } from "../../src/core/evidence/domain-evidence.ts";
import type { MailHosts } from "../../src/core/mail/mail-hosts.ts";
import { readConfig } from "../../src/main/settings/config.ts";

const UNKNOWN: MailHosts = { kind: "unknown" };

function linesOf(path: string): readonly string[] {
  return readFileSync(path, "utf8")
    .split(/\r?\n/)
    .filter((line) => line !== "" && !line.startsWith("#"));
}

function domainsOf(path: string): readonly Domain[] {
  const names = new Map<string, Domain>();
  for (const line of linesOf(path)) {
    const parsed = parseDomain(line.trim());
    if (parsed.ok) names.set(parsed.value.name, parsed.value);
  }
  return [...names.values()];
}

function answersOf(path: string | undefined): ReadonlyMap<string, MailHosts> {
  const answers = new Map<string, MailHosts>();
  for (const line of path === undefined ? [] : linesOf(path)) {
    const [name = "", hosts = "", addresses = ""] = line.split("\t");
    const found = { kind: "hosts", hosts: hosts.split(","), implicit: false } as const;
    answers.set(name, addresses === "" ? found : { ...found, addresses: addresses.split(",") });
  }
  return answers;
}

interface Tally {
  disposable: number;
  readonly confidences: number[];
  readonly bySignal: Map<string, number>;
}

function check(
  domains: readonly Domain[],
  answers: ReadonlyMap<string, MailHosts>,
  datasets: Datasets,
): Tally {
  const tally: Tally = { disposable: 0, confidences: [], bySignal: new Map() };
  for (const domain of domains) {
    const verdict = domainVerdict(domain, answers.get(domain.name) ?? UNKNOWN, datasets);
    if (verdict.disposable) tally.disposable += 1;
    tally.confidences.push(verdict.confidence);
    for (const { signal, weight } of verdict.evidence) {
      if (weight > 0) tally.bySignal.set(signal, (tally.bySignal.get(signal) ?? 0) + 1);
    }
  }
  return tally;
}

const share = (part: number, whole: number): string =>
  `${String(part)} (${((100 * part) / Math.max(1, whole)).toFixed(2)} %)`;

async function main(): Promise<void> {
  const [listedPath, legitPath, answersPath] = process.argv.slice(2);
  if (listedPath === undefined || legitPath === undefined) {
    console.error("usage: npm run bench:detection LISTED LEGIT [ANSWERS]");
    process.exitCode = 2;
    return;
  }
  const { dataDir } = readConfig(process.env);
  const { db, close } = await openEmbedded(dataDir, Date.now());
  const { shared, lists } = loadLists(await new FeedFiles(db).read(...IN_USE));
  await close();
  const datasets = attachDatasets(shared, noRules);
  const nothing = { sourcesOf: () => 0 };
  const rules: Datasets = { ...datasets, disposable: nothing, families: nothing };
  const [listed, legit] = [domainsOf(listedPath), domainsOf(legitPath)];
  const answers = answersOf(answersPath);
  const used = lists.filter(({ names }) => names > 0);
  console.log(
    `Lists: ${used.map(({ id, names, from }) => `${id} ${String(names)} (${from})`).join(", ")}`,
  );
  console.log(
    `DNS: ${answersPath === undefined ? "off" : `${String(answers.size)} recorded answers`}\n`,
  );
  console.log(`| | of ${String(listed.length)} listed | of ${String(legit.length)} legit |`);
  console.log("|---|---|---|");
  const whole = [check(listed, answers, datasets), check(legit, answers, datasets)] as const;
  const alone = [check(listed, answers, rules), check(legit, answers, rules)] as const;
  const row = (name: string, [bad, good]: readonly [number, number]): void =>
    console.log(`| ${name} | ${share(bad, listed.length)} | ${share(good, legit.length)} |`);
  row("called disposable", [whole[0].disposable, whole[1].disposable]);
  row("by rules only", [alone[0].disposable, alone[1].disposable]);
  const signals = new Set([...whole[0].bySignal.keys(), ...whole[1].bySignal.keys()]);
  for (const signal of [...signals].sort()) {
    row(`\`${signal}\``, [whole[0].bySignal.get(signal) ?? 0, whole[1].bySignal.get(signal) ?? 0]);
  }
  printReliability(whole[0].confidences, whole[1].confidences);
}

/** Lower ends of the bands of confidence; each reaches up to the next. */
const BANDS = [0, 1, 25, 50, 75, 90, 100];

/**
 * A band is calibrated when its mean confidence is the share of disposable names in it. The expected calibration error
 * is the mean gap, weighted by names; both files count with the weight of one half, whatever their sizes.
 */
function printReliability(listed: readonly number[], legit: readonly number[]): void {
  console.log(
    "\n| Confidence | Listed | Legit | Mean confidence | Disposable, files weighted alike |",
  );
  console.log("|---|---|---|---|---|");
  let error = 0;
  for (const [at, from] of BANDS.entries()) {
    const to = BANDS[at + 1] ?? Infinity;
    const isIn = (confidence: number): boolean => confidence >= from && confidence < to;
    const [bad, good] = [listed.filter(isIn), legit.filter(isIn)];
    const [badShare, goodShare] = [bad.length / listed.length, good.length / legit.length];
    const whole = badShare + goodShare;
    if (whole === 0) continue;
    const mean = (badShare * meanOf(bad) + goodShare * meanOf(good)) / whole;
    const observed = (100 * badShare) / whole;
    error += (whole / 2) * (Math.abs(mean - observed) / 100);
    const band =
      to === Infinity || to === from + 1 ? String(from) : `${String(from)} to ${String(to - 1)}`;
    const cells = [
      band,
      bad.length,
      good.length,
      `${mean.toFixed(1)} %`,
      `${observed.toFixed(1)} %`,
    ];
    console.log(`| ${cells.map(String).join(" | ")} |`);
  }
  console.log(`\nExpected calibration error: ${error.toFixed(4)}`);
}

const meanOf = (numbers: readonly number[]): number =>
  numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);

await main();
