import { Command } from "commander";
import type { ForgetReport } from "../../gate/gate-shapes.ts";
import { print, refuse, shown, type Terminal, withOpened } from "../terminal.ts";
import { sure, type YesOption } from "./account/operate.ts";

export interface ForgetCommandDeps {
  readonly terminal: Terminal;
  readonly confirm: (question: string) => Promise<boolean>;
  readonly openForget: () => Promise<{
    readonly forget: (address: string, isLook: boolean) => Promise<ForgetReport>;
    readonly close: () => Promise<void>;
  }>;
}

/** `gatepost forget`: what is kept of one person goes, in every account. */
export const forgetCommand = (deps: ForgetCommandDeps): Command =>
  new Command("forget")
    .description(
      "delete what is kept of one person in every account; lists with the address go whole",
    )
    .argument("<address>", "the person's e-mail address")
    .option("--yes", "do not ask")
    .option("--json", 'print {"found","account_id","elsewhere"}')
    .action(async (address: string, options: YesOption) => {
      const { terminal, openForget } = deps;
      const report = await withOpened(openForget, async ({ forget }) => {
        const { found } = await forget(address, true);
        const total = Object.values(found).reduce((sum, count) => sum + count, 0);
        if (total > 0) await sure(deps, options, `Delete ${placesText(found)}?`);
        return forget(address, false);
      });
      const { found, account_id: own, elsewhere } = report;
      const account =
        own === null
          ? ""
          : `The account with this address is left: gatepost account delete ${own}\n`;
      const text = `deleted: ${placesText(found)}\n${account}Not searched: ${elsewhere.join("; ")}.\n`;
      print(terminal, options.json, report, text);
      const isNone = own === null && Object.values(found).every((count) => count === 0);
      if (isNone) throw refuse(`nothing is kept of ${shown(address)}`);
    });

const placesText = (found: ForgetReport["found"]): string =>
  Object.entries(found)
    .map(([place, count]) => `${place} ${String(count)}`)
    .join(", ");
