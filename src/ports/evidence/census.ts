/** Honest domains counted by mail server: mail hosts and the addresses they have. Names of domains are not kept. */
export interface Census {
  /** The UTC day it was last worked on, in days since the Unix epoch. */
  readonly day: number;
  /** SHA-256 of the names, as hex: a census of another file starts anew. */
  readonly source: string;
  /** Names resolved so far, in the order of the file; equal to `names` when it is finished. */
  readonly asked: number;
  readonly names: number;
  /** Of the names asked, those with a mail server. */
  readonly domains: number;
  readonly servers: ReadonlyMap<string, number>;
}

/** Keeps a census over a restart. */
export interface CensusStore {
  /** Undefined when there is none, or none that can be read. */
  read(): Census | undefined;
  save(census: Census): void;
}
