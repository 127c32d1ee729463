/** A key that signs tokens (Ed25519). */
export interface SigningKey {
  readonly kid: string;
  /** The public key: 32 octets in base64url, the member `x` of its JWK (RFC 8037). */
  readonly x: string;
  /** The private key, sealed; "" once nothing is signed with it any more. */
  readonly sealed: string;
  readonly createdAtMs: number;
  /** From then on it signs nothing; absent: it signs. */
  readonly retiredAtMs?: number;
}

/** Keeps the signing keys of the installation. Rules are checked by `test/contracts/policy/signing-keys.ts`. */
export interface SigningKeys {
  /** Adds the key unless one signs already; returns the one that does. */
  agree(key: SigningKey): Promise<SigningKey>;
  /** The new key signs from now on; those before it are retired, their private halves are forgotten. */
  rotate(key: SigningKey): Promise<void>;
  /** Newest first; without those retired before `retiredSinceMs`. */
  list(retiredSinceMs: number): Promise<readonly SigningKey[]>;
  /** Deletes those retired before; returns how many. */
  prune(retiredBeforeMs: number): Promise<number>;
}
