import { Command } from "commander";
import { OUTCOME_DAYS, type OutcomeReport } from "../../../gate/outcome-report.ts";
import { jsonLine, misuse, shown, table } from "../../terminal.ts";
import { type AccountDeps, accountNamed, withAccounts } from "../account/account-deps.ts";
import { ACCOUNT, type JsonOption } from "../options.ts";

interface Options extends JsonOption {
  readonly days: string;
}

/** `gatepost account outcomes ACCOUNT`: sign-up decisions by day, reason, key and form. */
export function outcomesCommand(deps: AccountDeps): Command {
  return new Command("outcomes")
    .description("what was decided on the account's sign-ups")
    .argument("<account>", ACCOUNT)
    .option("--days <number>", `UTC days, up to ${String(OUTCOME_DAYS)}`, "30")
    .option("--json", "print JSON alone")
    .action(async (name: string, { days, json }: Options) => {
      const number = Number(days);
      if (!/^\d{1,3}$/.test(days) || number < 1 || number > OUTCOME_DAYS) {
        throw misuse(`--days: "${shown(days)}" is not a number from 1 to ${String(OUTCOME_DAYS)}`);
      }
      const report = await withAccounts(deps, async (store) => {
        const account = await accountNamed(store, name);
        return store.reportOutcomes(account.id, number);
      });
      deps.terminal.out(json === true ? jsonLine(report) : textOf(report));
    });
}

const DECISION_HEADINGS = ["ACCEPT", "CHALLENGE", "REVIEW", "REJECT"];

type Counts = OutcomeReport["days"][number];

const counts = ({ accept, challenge, review, reject }: Omit<Counts, "day">): readonly string[] =>
  [accept, challenge, review, reject].map(String);

/** Days without a decision are left out. */
function textOf({ days, reasons, keys, forms, total }: OutcomeReport): string {
  if (total === 0) return "no decisions in these days\n";
  const busy = days.filter((day) => counts(day).some((count) => count !== "0"));
  return [
    table(
      ["DAY", ...DECISION_HEADINGS],
      busy.map((day) => [day.day, ...counts(day)]),
    ),
    table(
      ["DECISION", "REASON", "COUNT"],
      reasons.map(({ decision, reason, count }) => [decision, reason, String(count)]),
    ),
    table(
      ["KEY", ...DECISION_HEADINGS],
      keys.map((key) => [shown(key.name ?? key.key_id ?? "none"), ...counts(key)]),
    ),
    table(
      ["FORM", ...DECISION_HEADINGS],
      forms.map((form) => [shown(form.form ?? "none"), ...counts(form)]),
    ),
  ].join("\n");
}
