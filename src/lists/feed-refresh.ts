/** Why a fetched list was not taken; the copy before it stays. */
export type ListRefusal =
  /** There was no valid HTTP answer; the detail says why. */
  | "not_fetched"
  /** Another status than 200. */
  | "bad_status"
  /** Over 16 MB. */
  | "too_large"
  /** Not the format of this list, or under 98 % of it are names. */
  | "not_a_list"
  /** Fewer names than this list ever had. */
  | "below_floor"
  /** Under 0.8 or over 1.3 times the last accepted size; stays so until the operator confirms it. */
  | "size_swing"
  /** A name that every such list holds is not there. */
  | "lacks_known"
  /** It holds a large provider. */
  | "holds_provider"
  /** More than 5 % of the names went; the next fetch must say so again. */
  | "many_removed"
  /** It was good, and the data directory could not take it. */
  | "not_kept";

/** One source as it stands. */
export interface FeedStatus {
  readonly id: string;
  readonly curated: boolean;
  /** 0 when nothing of it is in use. */
  readonly names: number;
  /** Where what is in use came from: fetched, the package that came with the program, or nowhere. */
  readonly from: "fetch" | "package" | "nowhere";
  /** When what is in use was fetched. Milliseconds since the Unix epoch, here and below. */
  readonly fetchedAtMs?: number;
  /** When the source was last asked, with any result. */
  readonly askedAtMs?: number;
  /** When it last gave what is in use, or said that this is the newest still. */
  readonly confirmedAtMs?: number;
  /** The operator switched it off: it gives no evidence. */
  readonly isOff?: boolean;
  /** What came of it, when the answer was not taken. */
  readonly refusal?: { readonly why: ListRefusal; readonly detail?: string };
}

export interface RefreshOutcome {
  readonly id: string;
  readonly kind: "accepted" | "unchanged" | "refused";
  readonly why?: ListRefusal;
  readonly detail?: string;
}

/** Fetches list sources and says how they stand. */
export interface FeedRefresh {
  status(): Promise<readonly FeedStatus[]>;
  /**
   * Asks every source now. Never rejects for what a source did. Of the `confirmed` ones the operator says that they
   * accepts: `size_swing` and `many_removed` do not refuse them this once.
   */
  refresh(confirmed?: readonly string[]): Promise<readonly RefreshOutcome[]>;
}

/** What is counted about lists. */
export interface ListMetrics {
  refreshed(outcome: RefreshOutcome): void;
  /** How all lists stand; after each change of it. */
  stand(status: readonly FeedStatus[]): void;
}
