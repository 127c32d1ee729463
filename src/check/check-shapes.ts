import type { Signal } from "../core/evidence/signals.ts";
import type { Advice, ListBehind, SaidBy } from "../core/validate/explain.ts";
import type { FullResult } from "../core/validate/result.ts";
import type { DenialFields } from "./features.ts";

export interface EvidenceShape {
  readonly signal: Signal;
  readonly title: string;
  readonly says: string;
  /** 0 to 100. */
  readonly weight: number;
  readonly subject?: string;
  readonly by?: SaidBy;
  readonly lists: readonly ListBehind[];
}

export interface CheckStep {
  readonly step: "core" | "full";
  readonly result: FullResult & DenialFields;
  readonly evidence: readonly EvidenceShape[];
  readonly advice: readonly Advice[];
  readonly problem?: string;
  readonly meant?: string;
  /** This service's own name server does not answer; which one is told to accounts alone. */
  readonly dns_down?: string;
}

export interface FrontPage {
  readonly checked_at: string;
  readonly examples: readonly { readonly entry: string; readonly step: CheckStep }[];
  readonly lists: number;
  readonly list_entries: number;
  readonly lists_updated_at: string | null;
}
