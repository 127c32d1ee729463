import { Command } from "commander";
import { isoTime } from "../../core/calendar.ts";
import type { ApiKey } from "../../ports/keys.ts";
import { KEY_NAME_MAX, KEYS_MAX } from "../../service/keys.ts";
import {
  type AccountDeps,
  accountNamed,
  misuse,
  refuse,
  shown,
  table,
  withAccounts,
} from "./account-deps.ts";

const ACCOUNT = "its id or e-mail address";

/** `gatepost key ...`; a running server follows within 5 s. */
export function keyCommand(deps: AccountDeps): Command {
  return new Command("key")
    .description("API keys of accounts")
    .addCommand(createCommand(deps))
    .addCommand(listCommand(deps))
    .addCommand(revokeCommand(deps));
}

interface CreateOptions {
  readonly name: string;
  readonly json?: true;
}

function createCommand(deps: AccountDeps): Command {
  return new Command("create")
    .description("make a key, which is shown this once")
    .argument("<account>", ACCOUNT)
    .option("--name <text>", "what the key is for", "key")
    .option("--json", 'print {"id","name","api_key"}')
    .action(async (name: string, options: CreateOptions) => {
      const answer = await withAccounts(deps, async (store) => {
        const account = await accountNamed(store, name);
        return store.keys.create(account.id, options.name);
      });
      if (answer.kind === "bad_name") {
        throw misuse(`a name is one line of 1 to ${String(KEY_NAME_MAX)} characters`);
      }
      if (answer.kind === "too_many") {
        throw refuse(`the account has ${String(KEYS_MAX)} keys in force: revoke one first`);
      }
      const { key, apiKey } = answer;
      const json = { id: key.id, name: key.name, api_key: apiKey };
      deps.terminal.out(
        options.json === true
          ? `${JSON.stringify(json)}\n`
          : `id   ${key.id}\nkey  ${apiKey}\nThe key is not shown again.\n`,
      );
    });
}

const timeOrNull = (ms: number | undefined): string | null =>
  ms === undefined ? null : isoTime(ms);

const keyJson = (key: ApiKey): Readonly<Record<string, unknown>> => ({
  id: key.id,
  name: key.name,
  prefix: key.prefix,
  last_four: key.lastFour,
  created_at: isoTime(key.createdAtMs),
  last_used_at: timeOrNull(key.lastUsedAtMs),
  revoked_at: timeOrNull(key.revokedAtMs),
});

const row = (key: ApiKey): readonly string[] => [
  key.id,
  key.name,
  `${key.prefix}...${key.lastFour}`,
  isoTime(key.createdAtMs),
  timeOrNull(key.lastUsedAtMs) ?? "never",
  key.revokedAtMs === undefined ? "in force" : `revoked ${isoTime(key.revokedAtMs)}`,
];

function listCommand(deps: AccountDeps): Command {
  return new Command("list")
    .description("list an account's keys, never the keys themselves")
    .argument("<account>", ACCOUNT)
    .option("--json", "print an array")
    .action(async (name: string, { json }: { readonly json?: true }) => {
      const keys = await withAccounts(deps, async (store) => {
        const account = await accountNamed(store, name);
        return store.keys.list(account.id);
      });
      const headings = ["ID", "NAME", "KEY", "CREATED", "LAST USED", "STATE"];
      if (json === true) deps.terminal.out(`${JSON.stringify(keys.map(keyJson))}\n`);
      else deps.terminal.out(table(headings, keys.map(row)));
    });
}

interface RevokeOptions {
  readonly yes?: true;
  readonly json?: true;
}

function revokeCommand(deps: AccountDeps): Command {
  return new Command("revoke")
    .description("revoke a key for good")
    .argument("<key-id>", "the id that `key list` shows")
    .option("--yes", "do not ask")
    .option("--json", 'print {"id","revoked"}')
    .action(async (id: string, { yes, json }: RevokeOptions) => {
      const { terminal } = deps;
      // A script has named the key; only a person at a terminal is asked again.
      if (
        yes !== true &&
        terminal.interactive &&
        !(await deps.confirm(`Revoke key ${shown(id)}?`))
      ) {
        throw refuse("not revoked");
      }
      const isRevoked = await withAccounts(deps, ({ keys }) => keys.revoke(id));
      if (!isRevoked) throw refuse(`no key ${shown(id)}`);
      terminal.out(
        json === true ? `${JSON.stringify({ id, revoked: true })}\n` : `revoked ${shown(id)}\n`,
      );
    });
}
