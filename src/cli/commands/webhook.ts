import { Command } from "commander";
import type { LoggedDelivery } from "../../ports/webhook-store.ts";
import { Refusal } from "../../service/refusals.ts";
import { type DeliveryRow, deliveryRow } from "../../service/webhooks/delivery-log.ts";
import type { WebhookSettings, WebhookSetup } from "../../service/webhooks/configure.ts";
import type { Ping } from "../../service/webhooks/ping.ts";
import { CommandFailure, EXIT, type Terminal } from "../terminal.ts";
import { listen, type ListenDeps, type ListenOptions } from "../webhook-listen.ts";

/** Opened when a command needs it and closed when it is done. */
export interface CliWebhooks {
  /** Of an id or an e-mail address; undefined when there is no such account. */
  readonly accountId: (account: string) => Promise<string | undefined>;
  readonly setup: WebhookSetup;
  readonly ping: Ping;
  /** Newest first. */
  readonly log: (accountId: string, limit: number) => Promise<readonly LoggedDelivery[]>;
  readonly close: () => Promise<void>;
}

export interface WebhookDeps extends ListenDeps {
  readonly openWebhooks: () => Promise<CliWebhooks>;
}

interface Json {
  readonly json?: true;
}

/** Everything a sub-command needs, for one account. */
interface Desk {
  readonly terminal: Terminal;
  readonly webhooks: CliWebhooks;
  readonly accountId: string;
}

/** `gatepost webhook ...`: where an account is told of finished batches, and what became of it. */
export function webhookCommand(deps: WebhookDeps): Command {
  const command = new Command("webhook").description(
    "tell an account's server of finished batches",
  );
  for (const make of [setCommand, eventsCommand, secretCommand, pingCommand, logCommand]) {
    command.addCommand(make(deps));
  }
  return command.addCommand(removeCommand(deps)).addCommand(listenCommand(deps));
}

const JSON_OPTION = ["--json", "print JSON alone"] as const;
const ACCOUNT = ["<account>", "id or e-mail address"] as const;

function setCommand(deps: WebhookDeps): Command {
  return new Command("set")
    .description("set the URL; makes a new secret and prints it once")
    .argument(...ACCOUNT)
    .argument("<url>", "public https address")
    .option("--events <list>", "comma-separated; without it all events")
    .option(...JSON_OPTION)
    .action(async (account: string, url: string, options: Json & { readonly events?: string }) =>
      atDesk(account, deps, async ({ webhooks, accountId, terminal }) => {
        const settings = await webhooks.setup.set(accountId, url, eventNames(options.events ?? ""));
        terminal.out(options.json === true ? jsonText(settings) : settingsText(settings));
      }),
    );
}

function eventsCommand(deps: WebhookDeps): Command {
  return new Command("events")
    .description("select the events that are sent")
    .argument(...ACCOUNT)
    .argument("<list>", 'comma-separated; "" for all events')
    .option(...JSON_OPTION)
    .action(async (account: string, list: string, options: Json) =>
      atDesk(account, deps, async ({ webhooks, accountId, terminal }) => {
        const settings = await webhooks.setup.selectEvents(accountId, eventNames(list));
        terminal.out(options.json === true ? jsonText(settings) : settingsText(settings));
      }),
    );
}

function secretCommand(deps: WebhookDeps): Command {
  return new Command("secret")
    .description("make a new secret and print it once; the old one ends at once")
    .argument(...ACCOUNT)
    .option(...JSON_OPTION)
    .action(async (account: string, options: Json) =>
      atDesk(account, deps, async ({ webhooks, accountId, terminal }) => {
        const settings = await webhooks.setup.renewSecret(accountId);
        terminal.out(options.json === true ? jsonText(settings) : settingsText(settings));
      }),
    );
}

function pingCommand(deps: WebhookDeps): Command {
  return new Command("ping")
    .description("send test.ping and say what came of it; exit 1 when it was not accepted")
    .argument(...ACCOUNT)
    .option(...JSON_OPTION)
    .action(async (account: string, options: Json) =>
      atDesk(account, deps, async ({ webhooks, accountId, terminal }) => {
        const row = deliveryRow(await webhooks.ping(accountId));
        terminal.out(options.json === true ? jsonText(row) : rowText(row));
        if (row.status === null || row.error !== null) throw new CommandFailure(EXIT.no);
      }),
    );
}

function logCommand(deps: WebhookDeps): Command {
  return new Command("log")
    .description("what was sent in the last seven days, newest first")
    .argument(...ACCOUNT)
    .option("--limit <count>", "rows at the most", "100")
    .option(...JSON_OPTION)
    .action(async (account: string, options: Json & { readonly limit: string }) => {
      const limit = Number(options.limit);
      if (!/^\d{1,6}$/.test(options.limit) || limit < 1) {
        throw new CommandFailure(EXIT.usage, "the limit must be a number from 1 to 999999");
      }
      await atDesk(account, deps, async ({ webhooks, accountId, terminal }) => {
        const rows = (await webhooks.log(accountId, limit)).map(deliveryRow);
        terminal.out(options.json === true ? jsonText(rows) : rows.map(rowText).join(""));
      });
    });
}

function removeCommand(deps: WebhookDeps): Command {
  return new Command("remove")
    .description("forget the URL; what is still queued is not sent")
    .argument(...ACCOUNT)
    .action(async (account: string) =>
      atDesk(account, deps, async ({ webhooks, accountId, terminal }) => {
        const removed = await webhooks.setup.remove(accountId);
        if (!removed) throw new CommandFailure(EXIT.no, "no webhook is set for this account");
        terminal.out("Webhook removed.\n");
      }),
    );
}

function listenCommand(deps: WebhookDeps): Command {
  return new Command("listen")
    .description(
      "receive, verify and print webhooks here, for development; the secret is read from standard input",
    )
    .option("--host <address>", "where to listen", "127.0.0.1")
    .option("--port <port>", "0 picks a free one", "8787")
    .option("--json", "print one JSON object a line")
    .action(async (options: ListenOptions) => listen(options, deps));
}

/** Finds the account, closes the store whatever happens, and turns a refusal into the answer "no". */
async function atDesk(
  account: string,
  { openWebhooks, terminal }: WebhookDeps,
  work: (desk: Desk) => Promise<void>,
): Promise<void> {
  const webhooks = await openWebhooks();
  try {
    const accountId = await webhooks.accountId(account);
    if (accountId === undefined) throw new CommandFailure(EXIT.no, "there is no such account");
    await work({ terminal, webhooks, accountId });
  } catch (fault) {
    if (fault instanceof Refusal) throw new CommandFailure(EXIT.no, fault.message);
    throw fault;
  } finally {
    await webhooks.close();
  }
}

const eventNames = (list: string): readonly string[] =>
  list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");

const jsonText = (value: unknown): string => `${JSON.stringify(value)}\n`;

function settingsText(settings: WebhookSettings & { readonly secret?: string }): string {
  const { url, events, secret } = settings;
  const shown = secret === undefined ? "" : `Secret  ${secret}\n        It is shown only now.\n`;
  return `URL     ${url}\nEvents  ${events.length === 0 ? "all" : events.join(", ")}\n${shown}`;
}

/** One line: when, what, how it went. */
function rowText({
  event,
  session,
  status,
  error,
  duration_ms,
  attempted_at,
}: DeliveryRow): string {
  const took = duration_ms === null ? "" : ` in ${String(duration_ms)} ms`;
  const went =
    error ?? (status === null ? "Not sent yet." : `Accepted (${String(status)})${took}.`);
  const about = session === null ? event : `${event} ${session}`;
  return `${attempted_at ?? "-".padEnd(24)}  ${about}  ${went}\n`;
}
