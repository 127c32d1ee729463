/** Every name of the Email Verification Protocol (draft-hardt-email-verification, June 2026), which may still move. */

/** In front of the address's domain, a TXT record that begins with `DELEGATION` names the issuer. */
export const DNS_LABEL = "_email-verification";
export const DELEGATION = "iss=";

export const metadataUrl = (issuer: string): string =>
  `https://${issuer}/.well-known/email-verification`;

export interface Metadata {
  readonly jwks_uri?: unknown;
}

/** Between the issuer's token, which it closes, and the browser's. */
export const TILDE = "~";

export const ISSUED_TYPE = "evt+jwt";
export const BINDING_TYPE = "kb+jwt";
export const ALGORITHMS = ["EdDSA", "ES256", "RS256"] as const;

/** What the issuer says. */
export interface Issued {
  readonly iss?: unknown;
  readonly iat?: unknown;
  readonly cnf?: { readonly jwk?: unknown };
  readonly email?: unknown;
  readonly email_verified?: unknown;
  readonly is_private_email?: unknown;
}

/** What the browser says, by the key of `cnf`. */
export interface Binding {
  readonly aud?: unknown;
  readonly nonce?: unknown;
  readonly iat?: unknown;
  readonly sd_hash?: unknown;
}
