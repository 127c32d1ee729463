import type { OwnerKey } from "../../ports/admission/owner.ts";

// Every key and channel begins with "gatepost:", so that a user of Redis who may touch nothing else can count.

export const sinceKey = (prefix: string): string => `${prefix}since`;

export const rateKey = (prefix: string, owner: OwnerKey): string => `${prefix}r:${owner}`;

export const quotaKey = (prefix: string, owner: OwnerKey): string => `${prefix}q:${owner}`;

/** The keys of `COUNT`, used or not: a server asks for the right to all that are named. */
export const countKeys = (prefix: string, owner: OwnerKey): readonly string[] => [
  sinceKey(prefix),
  rateKey(prefix, owner),
  quotaKey(prefix, owner),
];
