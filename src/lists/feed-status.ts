export type ListRefusal =
  | "not_fetched"
  | "bad_status"
  | "too_large"
  /** Not the format of this list, or under 98 % of it are names. */
  | "not_a_list"
  | "below_floor"
  /** Under 0.8 or over 1.3 times the last accepted size; stays so until the operator confirms it. */
  | "size_swing"
  | "lacks_known"
  | "holds_provider"
  /** More than 5 % of the names went; the next fetch must say so again. */
  | "many_removed"
  | "not_kept";

export interface FeedStatus {
  readonly id: string;
  readonly curated: boolean;
  readonly names: number;
  readonly from: "fetch" | "package" | "nowhere";
  readonly fetchedAtMs?: number | undefined;
  readonly askedAtMs?: number | undefined;
  /** When it last gave what is in use, or said that this is the newest still. */
  readonly confirmedAtMs?: number | undefined;
  readonly isOff?: boolean;
  readonly refusal?:
    { readonly why: ListRefusal; readonly detail?: string | undefined } | undefined;
}

export interface RefreshOutcome {
  readonly id: string;
  readonly kind: "accepted" | "unchanged" | "refused";
  readonly why?: ListRefusal;
  readonly detail?: string;
}
