/** Encrypts what must be stored and read again, with a key that lives outside the database. */
export interface SecretBox {
  /** `about` says whose secret it is; the same must be said to open it. */
  seal(secret: string, about: string): string;
  /** Undefined when it was sealed with another key, about something else, or was changed. */
  open(sealed: string, about: string): string | undefined;
}
