/** Holders of duties, and the files that all machines share. */
export interface DutyTables {
  elections: ElectionRow;
  list_files: FeedFileRow;
}

export interface ElectionRow {
  duty: string;
  candidate: string;
  /** From then on anybody may take it; 0 when its holder resigned. */
  until_ms: number;
  /** How often it changed hands, the first time included. */
  term: number;
}

export interface FeedFileRow {
  name: string;
  version: string;
  /** Compressed text. */
  content: Uint8Array;
  changed_at_ms: number;
}
