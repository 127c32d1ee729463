/**
 * The keyed hash of a canonical address: 32 lower-case hexadecimal digits, always the same under one secret
 * key. Without the key addresses cannot be guessed.
 */
export type AddressHash = (canonical: string) => string;
