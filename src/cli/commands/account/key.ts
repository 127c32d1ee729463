import { Command } from "commander";
import { isoTime, isoTimeOrNull } from "../../../core/calendar.ts";
import {
  type ApiKey,
  KEY_NAME_MAX,
  keyJson,
  KEYS_MAX,
  type NewPage,
} from "../../../accounts/keys.ts";
import { misuse, print, refuse, shown, table } from "../../terminal.ts";
import { type AccountDeps, accountNamed, withAccounts } from "./account-deps.ts";
import { type JsonOption, aboutAccount } from "../options.ts";

/** `gatepost key ...`; a running server follows within 5 s. */
export function keyCommand(deps: AccountDeps): Command {
  return new Command("key")
    .description("API keys of accounts")
    .addCommand(createCommand(deps))
    .addCommand(listCommand(deps))
    .addCommand(revokeCommand(deps));
}

interface CreateKeyOptions extends JsonOption {
  readonly name: string;
  readonly publishable?: true;
  readonly origin?: readonly string[];
  readonly policy?: string;
  readonly form?: string;
  readonly daily?: string;
}

/** Undefined for a secret key. */
function pageOf({ publishable, ...options }: CreateKeyOptions): NewPage | undefined {
  const { origin, policy, form, daily } = options;
  if (publishable !== true) {
    const needing = (["origin", "policy", "form", "daily"] as const).find(
      (name) => options[name] !== undefined,
    );
    if (needing !== undefined) throw misuse(`--${needing} needs --publishable`);
    return undefined;
  }
  if (daily !== undefined && !/^\d{1,10}$/.test(daily)) {
    throw misuse("--daily must be a whole number from 1");
  }
  return {
    origins: origin ?? [],
    ...(policy !== undefined && { policy }),
    ...(form !== undefined && { form }),
    ...(daily !== undefined && { daily: Number(daily) }),
  };
}

function createCommand(deps: AccountDeps): Command {
  return aboutAccount("create", "create a key, which is shown once")
    .option("--name <text>", "what the key is for", "key")
    .option("--publishable", "a key for web pages: decides only, from its origins only")
    .option("--origin <url...>", "where a publishable key works: https://shop.example")
    .option("--policy <name>", "the policy that decides for a publishable key")
    .option("--form <label>", "the label of a publishable key's decisions and tokens")
    .option("--daily <n>", "decisions a day that a publishable key may charge (2000)")
    .option("--json", 'print {"id","name","api_key"}')
    .action(async (name: string, options: CreateKeyOptions) => {
      const page = pageOf(options);
      const answer = await withAccounts(deps, async (store) => {
        const account = await accountNamed(store, name);
        return store.keys.create(account.id, options.name, page);
      });
      if (answer.kind === "bad_name") {
        const most = String(KEY_NAME_MAX);
        throw misuse(`--name must be one line of 1 to ${most} characters, and no reserved name`);
      }
      if (answer.kind === "too_many") {
        throw refuse(
          `the account has ${String(KEYS_MAX)} active keys, the maximum: revoke one first`,
        );
      }
      if (answer.kind === "bad_page") throw misuse(answer.mistake);
      const { key, apiKey } = answer;
      const json = { id: key.id, name: key.name, api_key: apiKey };
      const text = `id   ${key.id}\nkey  ${apiKey}\nThe key is not shown again.\n`;
      print(deps.terminal, options.json, json, text);
    });
}

const row = (key: ApiKey): readonly string[] => [
  key.id,
  key.name,
  `${key.prefix}...${key.last_four}`,
  isoTime(key.created_at_ms),
  isoTimeOrNull(key.last_used_at_ms) ?? "never",
  key.revoked_at_ms === null ? "active" : `revoked ${isoTime(key.revoked_at_ms)}`,
];

function listCommand(deps: AccountDeps): Command {
  return aboutAccount(
    "list",
    "list an account's keys by name, start and end; the keys are not shown",
  )
    .option("--json", "print an array")
    .action(async (name: string, { json }: JsonOption) => {
      const keys = await withAccounts(deps, async (store) => {
        const account = await accountNamed(store, name);
        return store.keys.list(account.id);
      });
      const headings = ["ID", "NAME", "KEY", "CREATED", "LAST USED", "STATE"];
      print(deps.terminal, json, keys.map(keyJson), table(headings, keys.map(row)));
    });
}

interface RevokeOptions extends JsonOption {
  readonly yes?: true;
}

function revokeCommand(deps: AccountDeps): Command {
  return new Command("revoke")
    .description("revoke a key permanently")
    .argument("<key-id>", "the id that `key list` shows")
    .option("--yes", "do not ask")
    .option("--json", 'print {"id","revoked"}')
    .action(async (id: string, { yes, json }: RevokeOptions) => {
      const { terminal } = deps;
      // A script has named the key; only an interactive user is asked.
      if (
        yes !== true &&
        terminal.interactive &&
        !(await deps.confirm(`Revoke key ${shown(id)}?`))
      ) {
        throw refuse("not revoked");
      }
      const isRevoked = await withAccounts(deps, ({ keys }) => keys.revoke(id));
      if (!isRevoked) throw refuse(`no key ${shown(id)}`);
      print(terminal, json, { id, revoked: true }, `revoked ${shown(id)}\n`);
    });
}
