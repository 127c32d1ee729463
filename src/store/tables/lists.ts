import type { ListTopic, ListWord } from "../../core/evidence/rule.ts";

/** The operator's rules, and counts of verdicts. */
export interface ListTables {
  operator_entries: RuleRow;
  operator_changes: OperatorChangesRow;
  verdict_counts: VerdictCountRow;
}

export interface RuleRow {
  subject: string;
  topic: ListTopic;
  word: ListWord;
  note: string;
  author: string;
  created_at_ms: number;
  expires_at_ms: number | null;
}

/** One row, with id 1. */
export interface OperatorChangesRow {
  id: number;
  changes: number;
}

export interface VerdictCountRow {
  day: number;
  domain: string;
  disposable: number;
  other: number;
  /** Of both those whose domain has no mail server, and those for which DNS did not say. */
  no_mail: number;
  no_answer: number;
}
