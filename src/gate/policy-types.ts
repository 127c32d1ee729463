/** One version of a policy. Nothing in it ever changes. */
export interface PolicyVersion {
  /** From 1; the built-in `default` is version 1, so that what an account saves under this name starts at 2. */
  readonly version: number;
  /** The policy's JSON. */
  readonly document: string;
  /** Who saved it: an e-mail address, or the operator's name on the command line. */
  readonly author: string;
  readonly createdAtMs: number;
}

/** Which versions of one policy run. */
export interface PolicyHead {
  readonly name: string;
  /** Absent: none of the account's own is live. */
  readonly live?: number;
  /** Runs beside the live one and decides nothing. */
  readonly shadow?: number;
}

/** What decides, with its documents. */
export interface PolicyInForce {
  readonly live?: PolicyVersion;
  readonly shadow?: PolicyVersion;
}

export interface NewPolicyVersion extends Omit<PolicyVersion, "version"> {
  readonly accountId: string;
  readonly name: string;
  /** What the new version becomes. */
  readonly as: "live" | "shadow";
  /** The number of the first version under this name. */
  readonly firstVersion: number;
}

/** `usedBy`: "hook 0123abcd (kratos)". */
export type PolicyRemoval =
  | { readonly kind: "removed" | "unknown" }
  | { readonly kind: "in_use"; readonly usedBy: readonly string[] };

/** Keeps policies of accounts. Rules are checked by `test/contracts/policy/policy-store.ts`. */
export interface PolicyStore {
  /**
   * The new version's number, one above all that were ever saved under the name. Undefined, with nothing changed,
   * when the account has `policiesMax` other policies. Of older versions that do not run, the newest
   * `versionsMax` stay.
   */
  save(
    version: NewPolicyVersion,
    limits: { readonly policiesMax: number; readonly versionsMax: number },
  ): Promise<number | undefined>;
  /** By name; those with a version that runs. */
  list(accountId: string): Promise<readonly PolicyHead[]>;
  inForce(accountId: string, name: string): Promise<PolicyInForce>;
  version(accountId: string, name: string, version: number): Promise<PolicyVersion | undefined>;
  /** Newest first. */
  versions(accountId: string, name: string, limit: number): Promise<readonly PolicyVersion[]>;
  /** Ends the shadow, or makes a version it. False when there is no such policy or version. */
  setShadow(accountId: string, name: string, version: number | undefined): Promise<boolean>;
  /** The shadow becomes live; its number, or undefined when there is none. */
  promote(accountId: string, name: string): Promise<number | undefined>;
  /** No version of it runs any more; the versions stay to be read. Nothing changes while something uses it. */
  remove(accountId: string, name: string): Promise<PolicyRemoval>;
}
