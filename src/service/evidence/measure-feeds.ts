import type { Datasets, Rules } from "../../core/evidence/datasets.ts";
import type { MailHosts } from "../../core/mail/mail-hosts.ts";
import { type Domain, parseDomain } from "../../core/name/domain.ts";
import { domainVerdict } from "../../core/validate/domain-verdict.ts";

/** How many names of a file one feed is behind. */
export interface FeedShare {
  /** Names that are disposable by this feed without any other. */
  readonly alone: number;
  /** Names that are disposable now and would not be without this feed. */
  readonly onlyBy: number;
}

export interface MeasuredFeed {
  readonly id: string;
  /** Switched off: what it would add if it were on, alone and beside the others. */
  readonly isOff: boolean;
  /** Of the file of disposable names. */
  readonly found: FeedShare;
  /** False alarms: of the file of honest names. */
  readonly alarms: FeedShare;
}

/** One file as all feeds that are on see it. */
export interface MeasuredFile {
  readonly names: number;
  /** Lines that are not domain names; they do not count. */
  readonly invalid: number;
  readonly disposable: number;
  /** Disposable without any feed: by words and the operator's rules. */
  readonly withoutFeeds: number;
}

export interface FeedMeasure {
  readonly listed: MeasuredFile;
  readonly legit: MeasuredFile;
  readonly feeds: readonly MeasuredFeed[];
}

/** What each feed adds on names known to be disposable, and on names known to be honest. DNS is not asked. */
export type MeasureFeeds = (listed: string, legit: string) => FeedMeasure;

export interface MeasureDeps {
  readonly feeds: () => readonly string[];
  readonly operator: () => Rules;
  readonly datasetsUnder: (rules: Rules) => Datasets;
}

export function createMeasureFeeds(deps: MeasureDeps): MeasureFeeds {
  return (listedText, legitText) => {
    const ids = deps.feeds();
    const operator = deps.operator();
    const isOn = (id: string): boolean => !operator.isFeedOff(id);
    const under = (isFeedOn: (id: string) => boolean): Datasets =>
      deps.datasetsUnder({ ...operator, isFeedOff: (id) => !isFeedOn(id) });
    const world: World = {
      all: under(isOn),
      full: under(() => true),
      none: under(() => false),
      each: ids.map((id) => ({
        alone: under((other) => other === id),
        without: under((other) => other !== id && isOn(other)),
        beside: under((other) => other === id || isOn(other)),
      })),
    };
    const listed = measureFile(listedText, world);
    const legit = measureFile(legitText, world);
    return {
      listed: listed.file,
      legit: legit.file,
      feeds: ids.map((id, at) => ({
        id,
        isOff: !isOn(id),
        found: listed.shares[at] ?? NO_SHARE,
        alarms: legit.shares[at] ?? NO_SHARE,
      })),
    };
  };
}

const NO_SHARE: FeedShare = { alone: 0, onlyBy: 0 };

/** The lists with some feeds on. */
interface World {
  readonly all: Datasets;
  readonly full: Datasets;
  readonly none: Datasets;
  readonly each: readonly {
    readonly alone: Datasets;
    readonly without: Datasets;
    readonly beside: Datasets;
  }[];
}

const UNKNOWN: MailHosts = { kind: "unknown" };

const isDisposable = (domain: Domain, datasets: Datasets): boolean =>
  domainVerdict(domain, UNKNOWN, datasets).disposable;

function measureFile(text: string, world: World) {
  const file = { names: 0, invalid: 0, disposable: 0, withoutFeeds: 0 };
  const shares = world.each.map(() => ({ alone: 0, onlyBy: 0 }));
  for (const line of text.split(/\r?\n/)) {
    const name = line.replace(/#.*$/, "").trim();
    if (name === "") continue;
    const parsed = parseDomain(name);
    if (!parsed.ok) {
      file.invalid += 1;
      continue;
    }
    file.names += 1;
    if (isDisposable(parsed.value, world.all)) file.disposable += 1;
    if (isDisposable(parsed.value, world.none)) file.withoutFeeds += 1;
    else if (isDisposable(parsed.value, world.full)) addShares(parsed.value, world, shares);
  }
  return { file, shares };
}

/** Of a name that some feed finds. */
function addShares(
  domain: Domain,
  { each }: World,
  shares: readonly { alone: number; onlyBy: number }[],
): void {
  for (const [at, { alone, without, beside }] of each.entries()) {
    const share = shares[at];
    if (share === undefined) continue;
    if (isDisposable(domain, alone)) share.alone += 1;
    if (isDisposable(domain, beside) && !isDisposable(domain, without)) share.onlyBy += 1;
  }
}
