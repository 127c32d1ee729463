import { limitsOf, type Tiers, tierOf } from "../../accounts/admission/tiers.ts";
import type { WatchedPage, WatchList } from "../../watch/watch-list.ts";
import { accountRowsFor, type WithAccounts } from "../command.ts";
import { misuse, table } from "../terminal.ts";

export interface CliWatch extends WithAccounts {
  readonly watch: WatchList;
  readonly tiers: Tiers;
  readonly nowMs: () => number;
}

/** `gatepost watch`: the domains of an account's users, whose mail a server looks at once a day. */
export const watchCommand = accountRowsFor<CliWatch>()("watch", {
  about: "watch the domains of an account's users, once a day",
  takes: (to) =>
    to
      .argument(
        "[file]",
        'domains or addresses, one a line, which replace those watched; "-" reads standard input',
        "",
      )
      .option("--list", "print the domains that are watched, with their mail")
      .option("--off", "watch none any more"),
  json: 'print {"watched","refused"}, with --list {"domains"}',
  details: "Of addresses only the domains are kept. Providers and relays are left out.",
  examples: ["gatepost watch jo@example.com domains.txt", "gatepost watch jo@example.com --list"],
  async run(own, { watch, tiers, nowMs }, { args: [, file], list, off }, { readText }) {
    if ([file !== "", list === true, off === true].filter(Boolean).length !== 1)
      throw misuse("give a file, --list or --off");
    if (off === true) {
      await watch.clear(own.id);
      return { json: { watched: 0, refused: [] }, text: "0 domains are watched\n" };
    }
    if (list === true) {
      const domains = await all(watch, own.id);
      const rows = domains.map((one) => [one.domain, one.mail, one.since, one.registered ?? ""]);
      return { json: { domains }, text: table(["DOMAIN", "MAIL", "SINCE", "REGISTERED"], rows) };
    }
    const lines = (await readText(file)).split(/\s+/).filter((line) => line !== "");
    const names = new Set(lines.map((line) => line.slice(line.lastIndexOf("@") + 1).toLowerCase()));
    const { limits } = own;
    const { watch: most } = limitsOf(tiers, { tier: tierOf(own, nowMs()), limits });
    const change = await watch.replace(own.id, [...names], most);
    const refused = change.refused.slice(0, 20).map(({ domain }) => domain);
    const left = change.refused.length;
    const notes = left === 0 ? "" : `left out ${String(left)}: ${refused.join(", ")}\n`;
    return { json: change, text: `${String(change.watched)} domains are watched\n`, notes };
  },
});

async function all(watch: WatchList, accountId: string) {
  const domains = [];
  for (let after: string | null = ""; after !== null;) {
    const page: WatchedPage = await watch.page(accountId, after);
    domains.push(...page.domains);
    after = page.next;
  }
  return domains;
}
