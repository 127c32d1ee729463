/**
 * Run by `node dist/bench/evidence/mail-servers.js`: precision and recall of learned mail servers on synthetic worlds, for thresholds of
 * listed names from 5 to 30 and for more and less own traffic. Only names on no list are counted. It prints the
 * table of docs/detection.md.
 */
import {
  LEARNING,
  type LearnedServer,
  MailServerTally,
} from "../../src/core/evidence/mail-servers/learn-mail-servers.ts";
import { isCommonCarrier, isSharedMailHost } from "../../src/core/mail/mail-hosts.ts";
import { type MailWorld, mailWorld, sightingsOf } from "../../test/dns/mail-world.ts";

const THRESHOLDS = [5, 8, 10, 15, 20, 30];
const SEEDS = Array.from({ length: 20 }, (_, n) => n + 1);
const SEEN_ONE_IN = [Infinity, 31, 10, 5];
const GUESTS_MAX = [26, 60];

interface Sums {
  /** Disposable names that were found, and those of them on dedicated servers. */
  called: number;
  caught: number;
  dedicated: number;
  accused: number;
  honest: number;
  /** Hosting companies called dedicated, and the worlds that have any. */
  hosters: number;
  worlds: number;
}

function check({ domains }: MailWorld, servers: readonly LearnedServer[], sums: Sums): void {
  const dedicated = new Set(
    servers.flatMap(([server, kind]) => (kind === "dedicated" ? server : [])),
  );
  const unlisted = domains.filter(({ listed }) => !listed);
  const called = unlisted.filter(
    ({ host, address }) => dedicated.has(host) || dedicated.has(address),
  );
  const accused = called.filter(({ disposable }) => !disposable);
  sums.dedicated += unlisted.filter((each) => each.dedicated).length;
  sums.honest += unlisted.filter(({ disposable }) => !disposable).length;
  sums.called += called.length - accused.length;
  sums.caught += called.filter((each) => each.dedicated).length;
  sums.accused += accused.length;
  sums.hosters += new Set(accused.map(({ address }) => address)).size;
  if (accused.length > 0) sums.worlds += 1;
}

const isShared = (host: string): boolean => isCommonCarrier(host) || isSharedMailHost(host);
const percent = (part: number, whole: number): string => `${((100 * part) / whole).toFixed(2)} %`;

/** One line of the table: all worlds of a kind, with one threshold. */
function line(
  dedicatedListedMin: number,
  tallies: readonly {
    readonly world: MailWorld;
    readonly tally: MailServerTally;
  }[],
): string {
  const sums: Sums = {
    called: 0,
    caught: 0,
    dedicated: 0,
    accused: 0,
    honest: 0,
    hosters: 0,
    worlds: 0,
  };
  for (const { world, tally } of tallies) {
    check(world, tally.learned({ ...LEARNING, dedicatedListedMin }), sums);
  }
  const { called, caught, dedicated, accused, honest, hosters } = sums;
  const cells = [
    String(dedicatedListedMin),
    percent(caught, dedicated),
    percent(called, called + accused),
    `${String(accused)} of ${String(honest)}`,
    `${String(hosters)}, in ${String(sums.worlds)} worlds`,
  ];
  return cells.join(" | ");
}

for (const guestsMax of GUESTS_MAX) {
  const worlds = SEEDS.map((seed) => mailWorld(seed, guestsMax));
  const sizes = worlds.map(({ domains }) => domains.length).sort((a, b) => a - b);
  const range = `${String(sizes[0])} to ${String(sizes.at(-1))} domains`;
  console.log(
    `\n${String(SEEDS.length)} worlds of ${range}, at most ${String(guestsMax)} guests\n`,
  );
  console.log("| Own traffic | Listed names | Recall | Precision | Honest accused | Hosters |");
  console.log("|---|---|---|---|---|---|");
  for (const seenOneIn of SEEN_ONE_IN) {
    const tallies = worlds.map((world) => {
      const tally = new MailServerTally(isShared);
      for (const sighting of sightingsOf(world, seenOneIn)) tally.add(sighting);
      return { world, tally };
    });
    const seen = seenOneIn === Infinity ? "none" : `1 in ${String(seenOneIn)}`;
    for (const min of THRESHOLDS) console.log(`| ${seen} | ${line(min, tallies)} |`);
  }
}
