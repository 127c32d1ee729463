import { Guesses } from "../../src/accounts/guesses.ts";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { countingIds } from "../contracts/stores.ts";
import { keptLog } from "./kept-log.ts";
import { recordingTerminal } from "./recording-terminal.ts";
import { Accounts } from "../../src/accounts/accounts-store.ts";
import { Credits } from "../../src/accounts/credits.ts";
import { SignIns } from "../../src/accounts/sign-in/sign-ins.ts";
import { openEmbedded } from "../../src/store/database.ts";
import { Hooks } from "../../src/gate/hooks.ts";
import { Outcomes, createOutcomeReport } from "../../src/gate/outcomes.ts";
import { Keys } from "../../src/accounts/key-store.ts";
import { KeyService } from "../../src/accounts/keys.ts";
import { createSecretBox } from "../../src/base/secrets.ts";
import type { Passwords } from "../../src/accounts/sign-in/passwords.ts";
import { AccountService } from "../../src/accounts/accounts.ts";
import { createTokens } from "../../src/gate/tokens.ts";
import { AccountSwitches } from "../../src/gate/account-switches.ts";
import { program, runProgram } from "../../src/cli/program.ts";
import type { Open } from "../../src/cli/command.ts";
import { accountCommand, type CliAccounts } from "../../src/cli/commands/account.ts";
import { keyCommand } from "../../src/cli/commands/key.ts";
import type { Terminal } from "../../src/cli/terminal.ts";

export const NOW_MS = Date.UTC(2026, 10, 20, 12);
const clock = { nowMs: () => NOW_MS };
const passwords: Passwords = {
  hash: (password) => Promise.resolve(`hash of ${String(password.length)} characters`),
  verify: () => Promise.resolve(false),
};

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Shell {
  readonly dataDir: string;
  readonly run: (...words: string[]) => Promise<Outcome>;
  /** Runs with --json and reads what came. */
  readonly json: (...words: string[]) => Promise<unknown>;
}

interface More extends Partial<Pick<Terminal, "confirm" | "interactive">> {
  readonly openAccounts?: Open<CliAccounts>;
}

export function openShell(t: TestContext, input = "", more: More = {}): Shell {
  const dataDir = mkdtempSync(join(tmpdir(), "gatepost-cli-"));
  t.after(() => rmSync(dataDir, { recursive: true, force: true }));
  const ids = countingIds();
  const openHere: Open<CliAccounts> = async () => {
    const { db, close } = await openEmbedded(dataDir, NOW_MS);
    const keys = new KeyService({ keys: new Keys(db), ids, clock });
    const credits = new Credits(db, { clock });
    const accounts = new Accounts(db);
    const box = createSecretBox(new Uint8Array(32));
    const publicUrl = (): string => "";
    const log = keptLog();
    return {
      renewTokenSecret: (id) =>
        createTokens({ accounts, box, publicUrl, clock, ids, log }).renewSecret(id),
      accounts: new AccountService({
        accounts,
        passwords,
        sessions: new SignIns(db),
        ids,
        clock,
      }),
      keys,
      credits,
      switches: new AccountSwitches({ accounts, db, clock }),
      unlock: (id) => new Guesses(db).forget(id),
      reportOutcomes: createOutcomeReport({
        outcomes: new Outcomes(db),
        keys: new Keys(db),
        hooks: new Hooks(db),
        clock,
      }),
      close,
    };
  };
  const run = async (...words: string[]): Promise<Outcome> => {
    const { openAccounts = openHere, ...changed } = more;
    const readInput = () => Promise.resolve(input);
    const terminal = recordingTerminal({ readInput, ...changed });
    const commands = [accountCommand, keyCommand].map((make) => make(terminal, openAccounts));
    const root = program("1.2.3", terminal, commands);
    const code = await runProgram(root, words, terminal);
    return { code, out: terminal.written(), err: terminal.complained() };
  };
  const json = async (...words: string[]): Promise<unknown> => {
    const { code, out, err } = await run(...words, "--json");
    assert.deepEqual([code, err], [0, ""], words.join(" "));
    assert.equal(out.split("\n").length, 2, "one line of JSON and nothing else");
    return JSON.parse(out) as unknown;
  };
  return { dataDir, run, json };
}

export const ANN = "ann@gatepost.example";
