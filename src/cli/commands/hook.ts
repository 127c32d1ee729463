import { Argument, Option } from "@commander-js/extra-typings";
import { HOOK_OUTCOMES, HOOK_SYSTEMS } from "../../core/policy/outcomes.ts";
import type { HookJson, HookService, SignedExample } from "../../gate/hooks.ts";
import { accountRowsFor, group, rowsFor, type WithAccounts } from "../command.ts";
import { refuse, shown, table } from "../terminal.ts";

export interface CliHooks extends WithAccounts {
  readonly hooks: HookService;
  readonly send: (
    example: SignedExample,
  ) => Promise<{ readonly status: number; readonly body: string }>;
}

const row = rowsFor<CliHooks>();
const onAccount = accountRowsFor<CliHooks>();

async function hookOf({ hooks }: CliHooks, id: string) {
  const hook = await hooks.find(id);
  if (hook === undefined) throw refuse(`no hook ${shown(id)}`);
  return hook;
}

const HOOK = ["<hook-id>", "the id that `hook list` shows"] as const;

const HEADINGS = [
  "ID",
  "SYSTEM",
  "POLICY",
  ...HOOK_OUTCOMES.map((outcome) => outcome.toUpperCase().replace("_", " ")),
  "LAST CALL",
];

const UNCOUNTED =
  "While Gatepost is down or hangs, a proxy in front of it lets everybody in. These calls are in the proxy's log alone.\n";

const cells = (hook: HookJson): readonly string[] => [
  hook.id,
  hook.system,
  hook.policy,
  ...HOOK_OUTCOMES.map((outcome) => String(hook.calls[outcome])),
  hook.last_call === null ? "never" : `${hook.last_call.at} ${hook.last_call.why}`,
];

/** `gatepost hook ...`; a running server follows within 5 s. */
export const hookCommand = group(
  "hook",
  "addresses at which identity systems ask before they create a user",
  [
    onAccount("create", {
      about: "create a hook and print its URL and secret once",
      takes: (to) =>
        to
          .addArgument(new Argument("<system>", "the identity system").choices(HOOK_SYSTEMS))
          .option("--policy <name>", "the policy that decides")
          .addOption(
            new Option("--challenge <decision>", "what challenge and review become").choices([
              "accept",
              "reject",
            ]),
          )
          .option("--jwks <url>", "where the system's public keys are (neon, fusionauth)"),
      examples: [
        "gatepost hook create jo@example.com supabase",
        "gatepost hook create jo@example.com kratos --policy newsletter --challenge reject",
      ],
      async run({ id }, { hooks }, { args: [, system], policy, challenge, jwks }) {
        const made = await hooks.create(id, { system, policy, challenge, jwksUrl: jwks });
        const secret =
          made.secret === null ? "" : `secret  ${made.secret}\nThe secret is not shown again.\n`;
        return { json: made, text: `hook    ${made.id}\nurl     ${made.url}\n${secret}` };
      },
    }),
    onAccount("list", {
      about: "list an account's hooks with the calls of 30 days and the last one",
      examples: ["gatepost hook list jo@example.com"],
      async run({ id }, opened) {
        const hooks = await opened.hooks.list(id);
        return { json: hooks, text: table(HEADINGS, hooks.map(cells)) + UNCOUNTED };
      },
    }),
    row("secret", {
      about: "make a new secret and print it once, or take the one that the system made",
      takes: (to) =>
        to
          .argument(...HOOK)
          .option("--stdin", "read the secret from standard input (ZITADEL: its signing key)"),
      json: 'print {"secret"}',
      examples: [
        "gatepost hook secret HOOK_ID",
        "gatepost hook secret HOOK_ID --stdin < secret.txt",
      ],
      async run({ args: [hookId], stdin }, opened, { readInput }) {
        const given = stdin === true ? (await readInput()).trim() : undefined;
        const secret = await opened.hooks.setSecret(await hookOf(opened, hookId), given);
        return { json: { secret }, text: `secret  ${secret}\n` };
      },
    }),
    row("test", {
      about: "send a signed example to the running service and print its answer",
      takes: (to) =>
        to
          .argument(...HOOK)
          .option("--email <address>", "the address that signs up", "jo@mailinator.com"),
      json: 'print {"status","body"}',
      examples: ["gatepost hook test HOOK_ID --email jo@mailinator.com"],
      async run({ args: [hookId], email }, opened) {
        const hook = await hookOf(opened, hookId);
        const unread = await opened.hooks.unreadCall(hook);
        const { status, body } = await opened.send(opened.hooks.example(hook, email));
        return {
          json: { status, body },
          text: `${String(status)} ${body}\n`,
          failure:
            unread === undefined
              ? undefined
              : refuse(`a call of the system was not read: ${unread}`),
        };
      },
    }),
    row("remove", {
      about: "remove a hook",
      takes: (to) => to.argument(...HOOK),
      json: 'print {"id","removed"}',
      examples: ["gatepost hook remove HOOK_ID"],
      async run({ args: [id] }, opened) {
        await opened.hooks.remove(await hookOf(opened, id));
        return { json: { id, removed: true }, text: `removed ${shown(id)}\n` };
      },
    }),
  ],
);
