import { setImmediate as nextRound } from "node:timers/promises";
import { LEARNED_FILE, learningFile, writeLearned } from "../../lists/files/learning-file.ts";
import { listFolder } from "../../lists/files/feed-copy.ts";
import { type FeedRefresher, createFeedRefresher } from "../../lists/refresh/feed-refresher.ts";
import type { FetchedSource } from "../../lists/sources/feed-sources.ts";
import type { LiveRules } from "../../lists/refresh/live-rules.ts";
import type { LoadedLists } from "../../lists/load/pack-lists.ts";
import { attachNameTable, namesOfTable } from "../../lists/table/name-table.ts";
import { type SharedDatasets, packMailServers } from "../../lists/table/shared-datasets.ts";
import { sharedLearning } from "../../lists/refresh/shared-learning.ts";
import { createProxiedHttp } from "../../outbound/proxied.ts";
import type { SqlDatabase } from "../../store/database.ts";
import type { Rules } from "../../core/evidence/datasets.ts";
import type { DnsLookup } from "../../dns/lookup.ts";
import type { Clock } from "../../base/clock.ts";
import type { FeedFiles } from "../../lists/feed-files.ts";
import type { FeedRefresh, ListMetrics } from "../../lists/feed-refresh.ts";
import type { FeedSharing } from "../../lists/refresh/feed-sharing.ts";
import type { Notices } from "../../store/notices.ts";
import type { Outbound } from "../../outbound/outbound-types.ts";
import type { DomainMails } from "../../lists/domain-mail.ts";
import {
  type MailServerLearner,
  createMailServerLearner,
} from "../../lists/mail-server-learner.ts";
import type { Process } from "../process/open-process.ts";
import type { Config } from "../settings/config.ts";
import type { Duties } from "./duties.ts";
import type { OwnTraffic } from "./own-traffic.ts";

export interface ListsParts {
  readonly sql: Pick<SqlDatabase, "db">;
  /** A DNS client of its own profile, so that learning holds up no check. */
  readonly lookup: Pick<DnsLookup, "mx" | "addresses" | "everyAddress">;
  readonly metrics?: ListMetrics;
  readonly notices?: Notices;
  /** With several machines: the shared files. Absent for a single machine, which has only its data directory. */
  readonly shared?: SharedLists;
}

export interface SharedLists {
  readonly files: FeedFiles;
  /** Tells the others that a file changed; best effort, because they also poll every 2 s. */
  readonly tell: () => void;
  /** `listener` is called when another told; what it returns ends that. */
  readonly hear: (listener: () => void) => () => void;
  /** Of how long a start waits for what the others have; the machine's own unless told. */
  readonly clock?: Pick<Clock, "after">;
}

/** Background work beside the checks. */
type Traffic = Pick<OwnTraffic, "observe" | "observeAgain">;

export interface FeedJobs extends Traffic {
  readonly refresh: FeedRefresh;
  /** Fetching and learning, by one process at a time; none if GATEPOST_LISTS_REFRESH is off. */
  readonly duties: Duties;
  /** Follows what any process fetches, learns or gets from the operator. */
  readonly start: () => void;
}

const SOURCES_URL = "https://raw.githubusercontent.com";

const urlOf =
  ({ listsMirror }: Pick<Config, "listsMirror">) =>
  ({ id, path }: Pick<FetchedSource, "id" | "path">): string =>
    listsMirror === undefined ? `${SOURCES_URL}/${path}` : `${listsMirror}/${id}`;

function httpOf({ config, machine, clock }: Process, { lookup }: ListsParts): Outbound["http"] {
  const outbound = machine.openOutbound({
    addresses: (host) => lookup.everyAddress(host),
    clock,
    allowed: config.outboundAllow ?? [],
  });
  const direct: Outbound["http"] = (question) => outbound.http(question);
  const { httpsProxy: https, httpProxy: http, noProxy = [] } = config;
  return createProxiedHttp({ https, http, direct: noProxy }, { direct, clock });
}

/** What is in use, and how it changes. */
export interface Held {
  readonly loaded: LoadedLists;
  readonly sharing: FeedSharing;
  readonly shared: () => SharedDatasets;
  /** Takes new data, or the operator's changed word on the same. */
  readonly change: (shared?: SharedDatasets) => void;
  readonly live: LiveRules;
  readonly mails: Pick<DomainMails, "page">;
  readonly traffic: OwnTraffic;
}

/**
 * Following the operator and other processes, fetching, learning, counting; nothing runs yet. Closing waits for what
 * runs and writes what waits.
 */
export function openFeedJobs(process: Process, parts: ListsParts, held: Held): FeedJobs {
  const { config, clock, ids, log, closing } = process;
  const { metrics, shared } = parts;
  const { loaded, sharing, change, live, traffic } = held;
  const http = httpOf(process, parts);
  const refresher = createFeedRefresher({
    folder: listFolder(config.dataDir),
    urlOf: urlOf(config),
    http,
    clock,
    ids,
    log,
    sharing,
    loaded,
    ...(metrics !== undefined && { metrics }),
  });
  const learner = openLearner(process, parts, held);
  let deafen = (): void => undefined;
  closing.add(async () => {
    live.stop();
    deafen();
    await Promise.all([refresher.stop(), learner.stop()]);
    await traffic.flush();
  });
  return {
    refresh: refresher,
    observe: traffic.observe,
    observeAgain: traffic.observeAgain,
    duties: config.listsRefresh === "daily" ? dutiesOf({ refresher, learner }) : {},
    start() {
      live.start(() => change());
      refresher.follow((fresh) => change(fresh.shared));
      deafen = shared?.hear(() => refresher.look()) ?? deafen;
    },
  };
}

interface Workers {
  readonly refresher: FeedRefresher;
  readonly learner: MailServerLearner;
}

function dutiesOf({ refresher, learner }: Workers): Duties {
  return {
    list_refresh: () => Promise.resolve(refresher.fetch()),
    learning() {
      learner.start();
      return Promise.resolve(() => learner.stop());
    },
  };
}

function openLearner(
  { config, clock, log }: Process,
  { lookup, shared }: ListsParts,
  { sharing, shared: inUse, change, live, mails }: Held,
): MailServerLearner {
  const folder = listFolder(config.dataDir);
  return createMailServerLearner({
    names: () => namesToLearnFrom(inUse(), live.current()),
    ownTraffic: () => honestMail(mails, inUse),
    lookup,
    store:
      shared === undefined ? learningFile(folder) : sharedLearning(shared.files, { clock, log }),
    clock,
    log,
    pause: () => new Promise((resolve) => setImmediate(resolve)),
    learned(servers) {
      writeLearned(folder, servers);
      sharing.changed([LEARNED_FILE]);
      change({ ...inUse(), mailServers: packMailServers(servers) });
    },
  });
}

/** Names of curated lists that are on, and free providers as the cross-check: a host with theirs identifies no operator. */
function* namesToLearnFrom(shared: SharedDatasets, rules: Rules) {
  const curated = shared.sources.reduce(
    (bits, { id, kind }, bit) => bits | (kind === "curated" && !rules.isFeedOff(id) ? 1 << bit : 0),
    0,
  );
  for (const [name] of namesOfTable(shared.disposable, curated)) yield { name, listed: true };
  for (const [name] of namesOfTable(shared.knownGood)) yield { name, listed: false };
}

const MAIL_PAGE = 1_000;

/**
 * Own traffic that speaks for its mail servers. What was called disposable, by a learned host above all, would
 * testify against its own server, and a domain that is listed by now is not an honest customer.
 */
async function* honestMail(mails: Pick<DomainMails, "page">, inUse: () => SharedDatasets) {
  let after = "";
  for (;;) {
    const page = await mails.page(after, MAIL_PAGE);
    const listed = attachNameTable(inUse().disposable);
    yield page.filter(({ domain, disposable }) => !disposable && listed.sourcesOf(domain) === 0);
    after = page.at(-1)?.domain ?? "";
    if (page.length < MAIL_PAGE) return;
    await nextRound(); // the embedded database works on this thread
  }
}
