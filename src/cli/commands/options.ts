/** What an argument `<account>` is, as help says it. */
export const ACCOUNT = "its id or e-mail address";

/** Every command that answers has it. */
export interface JsonOption {
  readonly json?: true;
}
