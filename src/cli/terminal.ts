/** Where a command writes, and its exit codes. */
export interface Terminal {
  /** Standard output: the answer. */
  readonly out: (text: string) => void;
  /** Standard error: everything else. */
  readonly err: (text: string) => void;
  /** Whether standard output is a terminal that shows colours (NO_COLOR is honoured by main). */
  readonly colours: boolean;
  /** Whether standard error is a terminal: progress bars. */
  readonly interactive: boolean;
  /** Characters in a line of the terminal. */
  readonly columns: number;
}

/** The meanings of exit codes. */
export const EXIT = { fine: 0, no: 1, usage: 2, failed: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The answer is no, or the command failed: `message` goes to standard error, "" prints nothing. */
export class CommandFailure extends Error {
  readonly exitCode: ExitCode;

  constructor(exitCode: ExitCode, message = "") {
    super(message);
    this.name = "CommandFailure";
    this.exitCode = exitCode;
  }
}

/** The answer is no. */
export const refuse = (message: string): CommandFailure => new CommandFailure(EXIT.no, message);

/** The command line is invalid. */
export const misuse = (message: string): CommandFailure => new CommandFailure(EXIT.usage, message);
