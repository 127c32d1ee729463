import type { ForgetReport } from "../../gate/forget-person.ts";
import { rowsFor } from "../command.ts";
import { refuse, shown, sureToDelete } from "../terminal.ts";

export interface CliForget {
  readonly look: (address: string) => Promise<ForgetReport>;
  /** Takes 12 s: what is answered meanwhile is forgotten, too. */
  readonly forget: (address: string) => Promise<ForgetReport>;
}

/** `gatepost forget`: what is kept of one person goes, in every account. */
export const forgetCommand = rowsFor<CliForget>()("forget", {
  about: "delete what is kept of one person in every account",
  takes: (to) =>
    to
      .argument("<address>", "the person's e-mail address")
      .option("--yes", "do not ask; needed without a terminal"),
  json: 'print {"found","account_id","elsewhere"}',
  examples: ["gatepost forget jo@example.com", "gatepost forget jo@example.com --yes --json"],
  async run(given, { look, forget }, terminal) {
    const [address] = given.args;
    const { found: before } = await look(address);
    if (totalOf(before) > 0) await sureToDelete(terminal, given, `Delete ${placesText(before)}?`);
    const report = await forget(address);
    const { found, account_id: own, elsewhere } = report;
    const account =
      own === null ? "" : `The account with this address is left: gatepost account delete ${own}\n`;
    const isNone = own === null && totalOf(found) === 0;
    return {
      json: report,
      text: `deleted: ${placesText(found)}\n${account}Not searched: ${elsewhere.join("; ")}.\n`,
      failure: isNone ? refuse(`nothing is kept of ${shown(address)}`) : undefined,
    };
  },
});

const totalOf = (found: ForgetReport["found"]): number =>
  Object.values(found).reduce((sum, count) => sum + count, 0);

const placesText = (found: ForgetReport["found"]): string =>
  Object.entries(found)
    .map(([place, count]) => `${place} ${String(count)}`)
    .join(", ");
