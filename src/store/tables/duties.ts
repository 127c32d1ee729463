/** The files that all machines share. */
export interface DutyTables {
  list_files: FeedFileRow;
}

export interface FeedFileRow {
  name: string;
  version: string;
  /** Compressed text. */
  content: Uint8Array;
  changed_at_ms: number;
}
