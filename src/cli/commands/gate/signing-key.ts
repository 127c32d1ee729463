import { Command } from "commander";
import type { Tokens } from "../../../service/policy/tokens.ts";
import type { Terminal } from "../../terminal.ts";
import { jsonLine } from "../../text.ts";
import { withOpened } from "../../with-opened.ts";
import type { JsonOption } from "../options.ts";

/** Opened when a command needs it and closed when it is done. */
export interface CliTokens extends Pick<Tokens, "rotate"> {
  readonly close: () => Promise<void>;
}

export interface SigningKeyDeps {
  readonly terminal: Terminal;
  readonly openTokens: () => Promise<CliTokens>;
}

/** `gatepost signing-key rotate`; running servers follow within 30 s. */
export function signingKeyCommand({ terminal, openTokens }: SigningKeyDeps): Command {
  const rotate = new Command("rotate")
    .description("sign tokens with a new key; the old public key is published for 24 h more")
    .option("--json", 'print {"kid"}')
    .action(async ({ json }: JsonOption) => {
      const kid = await withOpened(openTokens, (tokens) => tokens.rotate());
      terminal.out(json === true ? jsonLine({ kid }) : `signing key ${kid}\n`);
    });
  return new Command("signing-key")
    .description("the key that signs tokens of decisions")
    .addCommand(rotate);
}
