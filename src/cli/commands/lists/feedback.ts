import { Command, Option } from "commander";
import type { Proposal } from "../../../gate/gate-shapes.ts";
import type { Proposals } from "../../../gate/proposals.ts";
import type { RuleService } from "../../../lists/rules/rules.ts";
import { print, refuse, shown, table, type Terminal, withOpened } from "../../terminal.ts";
import type { JsonOption } from "../options.ts";

const ANSWERS = ["deny", "allow", "dismiss"] as const;
type Answers = Partial<Record<(typeof ANSWERS)[number], string>> & JsonOption;

interface FeedbackCommandDeps {
  readonly terminal: Terminal;
  readonly author: string;
  readonly openLists: () => Promise<{
    readonly operator: Pick<RuleService, "save">;
    readonly proposals: Pick<Proposals, "all" | "answered">;
    readonly close: () => Promise<void>;
  }>;
}

/** `gatepost lists feedback`: domains that the feedback of all accounts proposes, and the operator's answer. */
export function feedbackCommand(deps: FeedbackCommandDeps): Command {
  const command = new Command("feedback")
    .description("list the domains that feedback proposes to deny or allow, or answer for one")
    .option("--json", "print the proposals");
  for (const answer of ANSWERS) {
    const others = ANSWERS.filter((other) => other !== answer);
    command.addOption(new Option(`--${answer} <domain>`, `${answer} it`).conflicts([...others]));
  }
  return command.action(async (options: Answers) => {
    const answer = ANSWERS.find((name) => options[name] !== undefined);
    const domain = answer === undefined ? "" : (options[answer] ?? "");
    const left = await withOpened(deps.openLists, async ({ proposals, operator }) => {
      if (answer === undefined) return proposals.all();
      const known = await proposals.all();
      if (!known.some((one) => one.domain === domain)) throw refuse(`no proposal ${shown(domain)}`);
      if (answer !== "dismiss") {
        const details = { note: "From feedback", author: deps.author };
        const saved = await operator.save(domain, answer, details);
        if (saved.kind !== "saved")
          throw refuse(`${shown(domain)}: no rule was made (${saved.kind})`);
      }
      await proposals.answered(domain);
      return proposals.all();
    });
    print(deps.terminal, options.json, left, left.length === 0 ? "no proposals\n" : textOf(left));
  });
}

const textOf = (proposals: readonly Proposal[]): string =>
  table(
    ["DOMAIN", "PROPOSES", "REPORTS", "MAILBOXES", "ACCOUNTS", "LAST"],
    proposals.map((one) => [
      one.domain,
      one.proposes,
      String(one.reports),
      String(one.mailboxes),
      String(one.accounts),
      one.last_day,
    ]),
  );
