import type { ListRefusal } from "../core/evidence/list-refusal.ts";

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
