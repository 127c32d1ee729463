const FILE_FAULTS: Readonly<Record<string, string>> = {
  EACCES: "permission denied; change its permissions, or run the command as its owner",
  EDQUOT: "the disk quota is used up; free some space, or write elsewhere",
  EEXIST: "it exists already; choose another name",
  EFBIG: "the file would be larger than the file system allows; write elsewhere",
  EIO: "the disk or device reports an error; see the system's log",
  EISDIR: "it is a folder; name a file",
  ELOOP: "its symbolic links lead in a circle; name the file itself",
  EMFILE: "too many files are open; raise the limit (ulimit -n)",
  ENAMETOOLONG: "the name is too long; choose a shorter one",
  ENOENT: "no such file or folder; check the name and the folder you are in",
  ENOSPC: "no space is left; free some, or write elsewhere",
  ENOTDIR: "a part of this path is a file, not a folder; check the name",
  EPERM: "the system does not allow it; run the command as the owner of the file",
  EROFS: "the file system is read-only; write elsewhere",
  ETXTBSY: "a program that runs uses it; stop the program, or write elsewhere",
};

/** One sentence for a fault: one of the file system names the file and says what to do. */
export function wordsOf(fault: unknown): string {
  const { code, path } = Object(fault) as Partial<Record<string, unknown>>;
  const words = fault instanceof Error ? fault.message : String(fault);
  if (typeof code !== "string" || typeof path !== "string") return words;
  return `${path}: ${FILE_FAULTS[code] ?? words}`;
}

const DRIVES_TERMINAL = /[\p{Cc}\p{Cf}\p{Cs}]/gu;

/** Typed text without control characters, which would change the terminal. */
export const shown = (text: string): string =>
  text.slice(0, 300).replace(DRIVES_TERMINAL, "\ufffd");

/** Lines that repeat input, such as a file name from elsewhere: their control characters must not reach the terminal. */
export const harmless = (lines: string): string =>
  lines.replace(DRIVES_TERMINAL, (mark) => (mark === "\n" ? mark : "\ufffd"));

export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [headings, ...rows];
  const widths = headings.map((_, at) => Math.max(...all.map((row) => (row[at] ?? "").length)));
  const line = (row: readonly string[]): string =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  return `${all.map(line).join("\n")}\n`;
}

export const jsonLine = (value: unknown): string => `${JSON.stringify(value)}\n`;

export type DatabaseUse = "must_exist" | "may_create";

/** Opens something for `work` and closes it, also when `work` fails. */
export async function withOpened<Opened extends { readonly close: () => Promise<void> }, T>(
  open: () => Promise<Opened>,
  work: (opened: Opened) => Promise<T>,
): Promise<T> {
  const opened = await open();
  try {
    return await work(opened);
  } finally {
    await opened.close();
  }
}

export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Whether standard output is a terminal that shows colours (NO_COLOR is honoured by main). */
  readonly colours: boolean;
  readonly interactive: boolean;
  readonly columns: number;
  /** Standard input to its end, at most 16 KB; one line feed at its end is cut off. */
  readonly readInput: () => Promise<string>;
  /** A file's text, or standard input's for "-", at most 64 MB. Rejects with a sentence. */
  readonly readText: (path: string) => Promise<string>;
  /** Asks a person; called on an interactive terminal only. */
  readonly confirm: (question: string) => Promise<boolean>;
}

/** A script has named what it changes; only an interactive user is asked. */
export async function sure(
  { interactive, confirm }: Terminal,
  { yes }: { readonly yes?: true },
  question: string,
): Promise<void> {
  if (yes === true || !interactive || (await confirm(question))) return;
  throw refuse("nothing changed");
}

/** What is deleted does not come back: a script says `--yes` as well. */
export async function sureToDelete(
  terminal: Terminal,
  given: { readonly yes?: true },
  question: string,
): Promise<void> {
  if (!terminal.interactive && given.yes !== true) {
    throw misuse(`${question} Nothing was deleted: without a terminal, add --yes.`);
  }
  await sure(terminal, given, question);
}

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

export const refuse = (message: string): CommandFailure => new CommandFailure(EXIT.no, message);

export const misuse = (message: string): CommandFailure => new CommandFailure(EXIT.usage, message);
