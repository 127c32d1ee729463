import { Argument, Command, Option } from "commander";
import type { Account } from "../../../accounts/accounts-store.ts";
import { HOOK_SYSTEMS } from "../../../gate/hook-types.ts";
import type { HookRow, HookService, SignedExample } from "../../../gate/hooks.ts";
import { Refusal } from "../../../base/refusals.ts";
import { type Terminal, jsonLine, refuse, shown, table, withOpened } from "../../terminal.ts";
import { ACCOUNT, type JsonOption } from "../options.ts";

/** Opened when a command needs it and closed when it is done. */
export interface CliHooks {
  readonly account: (idOrEmail: string) => Promise<Account | undefined>;
  readonly hooks: HookService;
  readonly close: () => Promise<void>;
}

export interface HookDeps {
  readonly terminal: Terminal;
  readonly openHooks: () => Promise<CliHooks>;
  readonly readInput: () => Promise<string>;
  /** Posts to the running service. */
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

async function withHooks<T>(
  { openHooks }: HookDeps,
  work: (opened: CliHooks) => Promise<T>,
): Promise<T> {
  return await withOpened(openHooks, async (opened) => {
    try {
      return await work(opened);
    } catch (fault) {
      throw fault instanceof Refusal ? refuse(fault.message) : fault;
    }
  });
}

async function accountOf({ account }: CliHooks, name: string): Promise<Account> {
  const found = await account(name);
  if (found === undefined) throw refuse(`no account ${shown(name)}`);
  return found;
}

async function hookOf({ hooks }: CliHooks, id: string) {
  const hook = await hooks.find(id);
  if (hook === undefined) throw refuse(`no hook ${shown(id)}`);
  return hook;
}

interface CreateOptions extends JsonOption {
  readonly policy?: string;
  readonly challenge?: string;
  readonly jwks?: string;
}

const createCommand = (deps: HookDeps): Command =>
  new Command("create")
    .description("create a hook and print its URL and secret once")
    .argument("<account>", ACCOUNT)
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
    .action(async (name: string, system: string, options: CreateOptions) => {
      const { policy, challenge, jwks, json } = options;
      const made = await withHooks(deps, async (opened) => {
        const { id } = await accountOf(opened, name);
        return await opened.hooks.create(id, {
          system,
          ...(policy !== undefined && { policy }),
          ...(challenge !== undefined && { challenge }),
          ...(jwks !== undefined && { jwksUrl: jwks }),
        });
      });
      const secret =
        made.secret === null ? "" : `secret  ${made.secret}\nThe secret is not shown again.\n`;
      deps.terminal.out(
        json === true ? jsonLine(made) : `hook    ${made.id}\nurl     ${made.url}\n${secret}`,
      );
    });

const row = (hook: HookRow): readonly string[] => [
  hook.id,
  hook.system,
  hook.policy,
  String(hook.calls.accepted),
  String(hook.calls.refused),
  String(hook.calls.failed_open),
  String(hook.calls.unauthenticated),
  hook.last_call === null ? "never" : `${hook.last_call.at} ${hook.last_call.why}`,
];

const listCommand = (deps: HookDeps): Command =>
  new Command("list")
    .description("list an account's hooks with the calls of 30 days and the last one")
    .argument("<account>", ACCOUNT)
    .option("--json", "print JSON alone")
    .action(async (name: string, { json }: JsonOption) => {
      const rows = await withHooks(deps, async (opened) =>
        opened.hooks.list((await accountOf(opened, name)).id),
      );
      const headings = [
        "ID",
        "SYSTEM",
        "POLICY",
        "ACCEPTED",
        "REFUSED",
        "FAILED OPEN",
        "UNAUTHENTICATED",
        "LAST CALL",
      ];
      deps.terminal.out(json === true ? jsonLine(rows) : table(headings, rows.map(row)));
    });

const secretCommand = (deps: HookDeps): Command =>
  new Command("secret")
    .description("make a new secret and print it once, or take the one that the system made")
    .argument("<hook-id>", "the id that `hook list` shows")
    .option("--stdin", "read the secret from standard input (ZITADEL: its signing key)")
    .option("--json", 'print {"secret"}')
    .action(async (id: string, options: JsonOption & { readonly stdin?: true }) => {
      const given = options.stdin === true ? (await deps.readInput()).trim() : undefined;
      const secret = await withHooks(deps, async (opened) =>
        opened.hooks.setSecret(await hookOf(opened, id), given),
      );
      deps.terminal.out(options.json === true ? jsonLine({ secret }) : `secret  ${secret}\n`);
    });

const testCommand = (deps: HookDeps): Command =>
  new Command("test")
    .description("send a signed example to the running service and print its answer")
    .argument("<hook-id>", "the id that `hook list` shows")
    .option("--email <address>", "the address that signs up", "jo@mailinator.com")
    .option("--json", 'print {"status","body"}')
    .action(async (id: string, { email, json }: JsonOption & { readonly email: string }) => {
      const example = await withHooks(deps, async (opened) =>
        opened.hooks.example(await hookOf(opened, id), email),
      );
      const { status, body } = await deps.send(example);
      deps.terminal.out(json === true ? jsonLine({ status, body }) : `${String(status)} ${body}\n`);
    });

const removeCommand = (deps: HookDeps): Command =>
  new Command("remove")
    .description("remove a hook")
    .argument("<hook-id>", "the id that `hook list` shows")
    .option("--json", 'print {"id","removed"}')
    .action(async (id: string, { json }: JsonOption) => {
      await withHooks(deps, async (opened) => opened.hooks.remove(await hookOf(opened, id)));
      deps.terminal.out(json === true ? jsonLine({ id, removed: true }) : `removed ${shown(id)}\n`);
    });
