import { isoTime, isoTimeOrNull } from "../../core/calendar.ts";
import { keyJson } from "../../accounts/key-json.ts";
import type { ApiKey } from "../../accounts/key-store.ts";
import type { NewPage } from "../../accounts/keys.ts";
import { accountRowsFor, group, rowsFor, wholeNumber } from "../command.ts";
import { misuse, refuse, shown, sure, table } from "../terminal.ts";
import type { CliAccounts } from "./account.ts";

const onAccount = accountRowsFor<CliAccounts>();

interface PageOptions extends Omit<NewPage, "origins"> {
  readonly publishable?: true | undefined;
  readonly origin?: readonly string[] | undefined;
}

function pageOf({ publishable, origin, policy, form, daily }: PageOptions) {
  const page = { policy, form, daily };
  if (publishable === true) return { origins: origin ?? [], ...page };
  const needing = Object.entries({ origin, ...page }).find(([, given]) => given !== undefined);
  if (needing !== undefined) throw misuse(`--${needing[0]} needs --publishable`);
  return undefined;
}

const create = onAccount("create", {
  about: "create a key, which is shown once",
  takes: (to) =>
    to
      .option("--name <text>", "what the key is for", "key")
      .option("--publishable", "a key for web pages: decides only, from its origins only")
      .option("--origin <url...>", "where a publishable key works: https://shop.example")
      .option("--policy <name>", "the policy that decides for a publishable key")
      .option("--form <label>", "the label of a publishable key's decisions and tokens")
      .option(
        "--daily <n>",
        "decisions a day that a publishable key may charge (2000)",
        wholeNumber("--daily", 1, 1_000_000_000),
      ),
  json: 'print {"id","name","api_key"}',
  examples: ["gatepost key create jo@example.com --name backend"],
  async run({ id: accountId }, { keys }, { name, ...options }) {
    const { key, apiKey } = await keys.create(accountId, name, pageOf(options));
    return {
      json: { id: key.id, name: key.name, api_key: apiKey },
      text: `id   ${key.id}\nkey  ${apiKey}\nThe key is not shown again.\n`,
    };
  },
});

const cells = (key: ApiKey): readonly string[] => [
  key.id,
  key.name,
  `${key.prefix}...${key.last_four}`,
  isoTime(key.created_at_ms),
  isoTimeOrNull(key.last_used_at_ms) ?? "never",
  key.revoked_at_ms === null ? "active" : `revoked ${isoTime(key.revoked_at_ms)}`,
];

const list = onAccount("list", {
  about: "list an account's keys by name, start and end; the keys are not shown",
  json: "print an array",
  examples: ["gatepost key list jo@example.com"],
  async run({ id }, store) {
    const keys = await store.keys.list(id);
    const headings = ["ID", "NAME", "KEY", "CREATED", "LAST USED", "STATE"];
    return { json: keys.map(keyJson), text: table(headings, keys.map(cells)) };
  },
});

const revoke = rowsFor<CliAccounts>()("revoke", {
  about: "revoke a key permanently",
  takes: (to) =>
    to.argument("<key-id>", "the id that `key list` shows").option("--yes", "do not ask"),
  json: 'print {"id","revoked"}',
  examples: ["gatepost key revoke KEY_ID --yes"],
  async run(given, { keys }, terminal) {
    const [id] = given.args;
    await sure(terminal, given, `Revoke key ${shown(id)}?`);
    if (!(await keys.revoke(id))) throw refuse(`no key ${shown(id)}`);
    return { json: { id, revoked: true }, text: `revoked ${shown(id)}\n` };
  },
});

/** `gatepost key ...`; a running server follows within 5 s. */
export const keyCommand = group("key", "API keys of accounts", [create, list, revoke]);
