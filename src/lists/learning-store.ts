import type { MailSighting } from "../core/evidence/mail-servers/learn-mail-servers.ts";

/** How far a round of learning has come. */
export interface LearningRound {
  /** The UTC day it was last worked on, in days since the Unix epoch. */
  readonly day: number;
  readonly isOver: boolean;
  /** Names up to this one, in the order of code units, were asked. */
  readonly lastName: string;
  readonly sightings: readonly MailSighting[];
}

/** Keeps a round over a restart. */
export interface LearningStore {
  /** Undefined when there is none, or none that can be read. */
  read(): Promise<LearningRound | undefined>;
  save(round: LearningRound): Promise<void>;
}
