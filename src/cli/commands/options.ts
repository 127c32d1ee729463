/** What an argument `<account>` is, as help shows it. */
export const ACCOUNT = "its id or e-mail address";

/** Every command that prints an answer has it. */
export interface JsonOption {
  readonly json?: true;
}
