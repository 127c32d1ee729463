/** `secret_key`: a fingerprint of it, from which the key cannot be had. */
export type InstallationFact = "secret_key";

/** What all processes on one database must agree on. */
export interface Installation {
  /** The first to say something is right: gives what holds from then on, which may be another's. */
  agree(fact: InstallationFact, value: string): Promise<string>;
  /** Replaces the value; running processes do not notice. */
  replace(fact: InstallationFact, value: string): Promise<void>;
}
