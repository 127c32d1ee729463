/** Slow hashing of passwords. */
export interface Passwords {
  /** A PHC string; another one on every call. */
  hash(password: string): Promise<string>;
  /** False for a wrong password and for a hash that cannot be read. */
  verify(hash: string, password: string): Promise<boolean>;
}
