import { HOOK_OUTCOMES, HOOK_SYSTEMS } from "../../../core/policy/outcomes.ts";
import { Argument, Command, Option } from "commander";
import type { AccountService } from "../../../accounts/accounts.ts";

import type { HookJson } from "../../../gate/gate-shapes.ts";
import type { HookService, SignedExample } from "../../../gate/hooks.ts";
import { type Terminal, print, refuse, shown, table, withOpened } from "../../terminal.ts";
import { accountNamed } from "../account/account-deps.ts";
import { type JsonOption, aboutAccount } from "../options.ts";

interface CliHooks {
  readonly accounts: Pick<AccountService, "find">;
  readonly hooks: HookService;
  readonly close: () => Promise<void>;
}

interface HookDeps {
  readonly terminal: Terminal;
  readonly openHooks: () => Promise<CliHooks>;
  readonly readInput: () => Promise<string>;
  readonly send: (
    example: SignedExample,
  ) => Promise<{ readonly status: number; readonly body: string }>;
}

/** `gatepost hook ...`; a running server follows within 5 s. */
export function hookCommand(deps: HookDeps): Command {
  return new Command("hook")
    .description("addresses at which identity systems ask before they create a user")
    .addCommand(createCommand(deps))
    .addCommand(listCommand(deps))
    .addCommand(secretCommand(deps))
    .addCommand(testCommand(deps))
    .addCommand(removeCommand(deps));
}

async function hookOf({ hooks }: CliHooks, id: string) {
  const hook = await hooks.find(id);
  if (hook === undefined) throw refuse(`no hook ${shown(id)}`);
  return hook;
}

const HOOK_ID = "the id that `hook list` shows";

interface CreateHookOptions extends JsonOption {
  readonly policy?: string;
  readonly challenge?: string;
  readonly jwks?: string;
}

const createCommand = (deps: HookDeps): Command =>
  aboutAccount("create", "create a hook and print its URL and secret once")
    .addArgument(new Argument("<system>", "the identity system").choices(HOOK_SYSTEMS))
    .option("--policy <name>", "the policy that decides")
    .addOption(
      new Option("--challenge <decision>", "what challenge and review become").choices([
        "accept",
        "reject",
      ]),
    )
    .option("--jwks <url>", "where the system's public keys are (neon, fusionauth)")
    .option("--json", "print JSON alone")
    .action(async (name: string, system: string, options: CreateHookOptions) => {
      const { policy, challenge, jwks, json } = options;
      const made = await withOpened(deps.openHooks, async (opened) => {
        const { id } = await accountNamed(opened, name);
        return await opened.hooks.create(id, {
          system,
          ...(policy !== undefined && { policy }),
          ...(challenge !== undefined && { challenge }),
          ...(jwks !== undefined && { jwksUrl: jwks }),
        });
      });
      const secret =
        made.secret === null ? "" : `secret  ${made.secret}\nThe secret is not shown again.\n`;
      print(deps.terminal, json, made, `hook    ${made.id}\nurl     ${made.url}\n${secret}`);
    });

const HEADINGS = [
  "ID",
  "SYSTEM",
  "POLICY",
  ...HOOK_OUTCOMES.map((outcome) => outcome.toUpperCase().replace("_", " ")),
  "LAST CALL",
];

/** Only the proxy knows of these calls. */
const UNCOUNTED =
  "While Gatepost is down or hangs, a proxy in front of it lets everybody in. These calls are in the proxy's log alone.\n";

const row = (hook: HookJson): readonly string[] => [
  hook.id,
  hook.system,
  hook.policy,
  ...HOOK_OUTCOMES.map((outcome) => String(hook.calls[outcome])),
  hook.last_call === null ? "never" : `${hook.last_call.at} ${hook.last_call.why}`,
];

const listCommand = (deps: HookDeps): Command =>
  aboutAccount("list", "list an account's hooks with the calls of 30 days and the last one")
    .option("--json", "print JSON alone")
    .action(async (name: string, { json }: JsonOption) => {
      const rows = await withOpened(deps.openHooks, async (opened) =>
        opened.hooks.list((await accountNamed(opened, name)).id),
      );
      print(deps.terminal, json, rows, table(HEADINGS, rows.map(row)) + UNCOUNTED);
    });

const secretCommand = (deps: HookDeps): Command =>
  new Command("secret")
    .description("make a new secret and print it once, or take the one that the system made")
    .argument("<hook-id>", HOOK_ID)
    .option("--stdin", "read the secret from standard input (ZITADEL: its signing key)")
    .option("--json", 'print {"secret"}')
    .action(async (id: string, options: JsonOption & { readonly stdin?: true }) => {
      const given = options.stdin === true ? (await deps.readInput()).trim() : undefined;
      const secret = await withOpened(deps.openHooks, async (opened) =>
        opened.hooks.setSecret(await hookOf(opened, id), given),
      );
      print(deps.terminal, options.json, { secret }, `secret  ${secret}\n`);
    });

const testCommand = (deps: HookDeps): Command =>
  new Command("test")
    .description("send a signed example to the running service and print its answer")
    .argument("<hook-id>", HOOK_ID)
    .option("--email <address>", "the address that signs up", "jo@mailinator.com")
    .option("--json", 'print {"status","body"}')
    .action(async (id: string, { email, json }: JsonOption & { readonly email: string }) => {
      const { example, unread } = await withOpened(deps.openHooks, async (opened) => {
        const hook = await hookOf(opened, id);
        const unread = await opened.hooks.unreadCall(hook);
        return { example: opened.hooks.example(hook, email), unread };
      });
      const { status, body } = await deps.send(example);
      print(deps.terminal, json, { status, body }, `${String(status)} ${body}\n`);
      if (unread !== undefined) throw refuse(`a call of the system was not read: ${unread}`);
    });

const removeCommand = (deps: HookDeps): Command =>
  new Command("remove")
    .description("remove a hook")
    .argument("<hook-id>", HOOK_ID)
    .option("--json", 'print {"id","removed"}')
    .action(async (id: string, { json }: JsonOption) => {
      await withOpened(deps.openHooks, async (opened) =>
        opened.hooks.remove(await hookOf(opened, id)),
      );
      print(deps.terminal, json, { id, removed: true }, `removed ${shown(id)}\n`);
    });
