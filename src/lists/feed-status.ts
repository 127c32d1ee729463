import { Counter, Gauge, type Registry } from "prom-client";

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

export interface ListMetrics {
  refreshed(outcome: RefreshOutcome): void;
  stand(status: readonly FeedStatus[]): void;
}

export function createListMetrics(registry: Registry): ListMetrics {
  const registers = [registry];
  const labelNames = ["list"] as const;
  const gauge = (name: string, help: string) => new Gauge({ name, help, labelNames, registers });
  const names = gauge("gatepost_list_names", "Names in use, by list.");
  const fetched = gauge(
    "gatepost_list_fetched_timestamp_seconds",
    "When the copy in use was fetched; 0 for one that came with the program.",
  );
  const confirmed = gauge(
    "gatepost_list_confirmed_timestamp_seconds",
    "When the source last gave the copy in use or said that it is the newest; 0 for never.",
  );
  const outcomes = new Counter({
    name: "gatepost_list_fetches_total",
    help: 'Fetches by list and what they came to: "accepted", "unchanged" or why they were refused.',
    labelNames: ["list", "outcome"],
    registers,
  });
  return {
    refreshed: ({ id, kind, why }) => outcomes.inc({ list: id, outcome: why ?? kind }),
    stand(status) {
      for (const { id, names: count, fetchedAtMs = 0, confirmedAtMs = 0 } of status) {
        confirmed.set({ list: id }, confirmedAtMs / 1_000);
        names.set({ list: id }, count);
        fetched.set({ list: id }, fetchedAtMs / 1_000);
      }
    },
  };
}
