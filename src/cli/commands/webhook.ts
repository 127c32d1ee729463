import { Command } from "commander";
import { type Deliveries, WEBHOOK_EVENTS } from "../../webhooks/webhooks-store.ts";
import type { WebhookSettings, WebhookSetup } from "../../webhooks/configure.ts";
import { verifySignature } from "../../webhooks/verify.ts";
import { type DeliveryRow, deliveryRow } from "../../webhooks/outcome-words.ts";
import type { Receive, ReceivedPost } from "../../webhooks/loopback-receiver.ts";
import type { Dispatcher } from "../../webhooks/dispatcher.ts";
import {
  CommandFailure,
  EXIT,
  type Terminal,
  misuse,
  print,
  refuse,
  shown,
  withOpened,
} from "../terminal.ts";
import { accountNamed } from "./account/account-deps.ts";
import { type JsonOption, aboutAccount } from "./options.ts";

export interface CliWebhooks {
  readonly accounts: { find(idOrEmail: string): Promise<{ readonly id: string } | undefined> };
  readonly setup: WebhookSetup;
  readonly dispatcher: Pick<Dispatcher, "ping">;
  readonly deliveries: Pick<Deliveries, "list">;
  readonly close: () => Promise<void>;
}

export interface WebhookDeps {
  readonly terminal: Terminal;
  readonly receive: Receive;
  /** Standard input to its end, at most a few KB. */
  readonly readInput: () => Promise<string>;
  readonly openWebhooks: () => Promise<CliWebhooks>;
}

interface WebhookScope {
  readonly terminal: Terminal;
  readonly webhooks: CliWebhooks;
  readonly accountId: string;
}

/** `gatepost webhook ...`: an account's webhook and its deliveries. */
export function webhookCommand(deps: WebhookDeps): Command {
  return new Command("webhook")
    .description("notify an account's server of finished batches")
    .addCommand(setCommand(deps))
    .addCommand(eventsCommand(deps))
    .addCommand(secretCommand(deps))
    .addCommand(pingCommand(deps))
    .addCommand(logCommand(deps))
    .addCommand(removeCommand(deps))
    .addCommand(listenCommand(deps));
}

const JSON_OPTION = ["--json", "print only JSON"] as const;

interface SetOptions extends JsonOption {
  readonly events?: string;
}

function setCommand(deps: WebhookDeps): Command {
  return aboutAccount("set", "set the URL, make a new secret and print it once")
    .argument("<url>", "public https address")
    .option("--events <list>", "comma-separated; default: all events")
    .option(...JSON_OPTION)
    .action(async (account: string, url: string, { events = "", json }: SetOptions) => {
      const names = eventNames(events);
      await withAccount(account, deps, async ({ webhooks, accountId, terminal }) => {
        const settings = await webhooks.setup.set(accountId, url, names);
        print(terminal, json, settings, settingsText(settings));
      });
    });
}

function eventsCommand(deps: WebhookDeps): Command {
  return aboutAccount("events", "select the events to send")
    .argument("<list>", 'comma-separated; "" for all events')
    .option(...JSON_OPTION)
    .action(async (account: string, list: string, options: JsonOption) => {
      const names = eventNames(list);
      await withAccount(account, deps, async ({ webhooks, accountId, terminal }) => {
        const settings = await webhooks.setup.selectEvents(accountId, names);
        print(terminal, options.json, settings, settingsText(settings));
      });
    });
}

function secretCommand(deps: WebhookDeps): Command {
  return aboutAccount("secret", "make a new secret and print it once; the old one stops working")
    .option(...JSON_OPTION)
    .action(async (account: string, options: JsonOption) =>
      withAccount(account, deps, async ({ webhooks, accountId, terminal }) => {
        const settings = await webhooks.setup.renewSecret(accountId);
        print(terminal, options.json, settings, settingsText(settings));
      }),
    );
}

function pingCommand(deps: WebhookDeps): Command {
  return aboutAccount("ping", "send test.ping and print the result; exit 1 if it is not accepted")
    .option(...JSON_OPTION)
    .action(async (account: string, options: JsonOption) =>
      withAccount(account, deps, async ({ webhooks, accountId, terminal }) => {
        const row = deliveryRow(await webhooks.dispatcher.ping(accountId));
        print(terminal, options.json, row, rowText(row));
        if (row.status === null || row.error !== null) throw new CommandFailure(EXIT.no);
      }),
    );
}

function logCommand(deps: WebhookDeps): Command {
  return aboutAccount("log", "list the deliveries of the last 7 days, newest first")
    .option("--limit <count>", "largest number of rows", "100")
    .option(...JSON_OPTION)
    .action(async (account: string, options: JsonOption & { readonly limit: string }) => {
      const limit = Number(options.limit);
      if (!/^\d{1,6}$/.test(options.limit) || limit < 1) {
        throw misuse("the limit must be a number from 1 to 999999");
      }
      await withAccount(account, deps, async ({ webhooks, accountId, terminal }) => {
        const rows = (await webhooks.deliveries.list(accountId, limit)).map(deliveryRow);
        print(terminal, options.json, rows, rows.map(rowText).join(""));
      });
    });
}

function removeCommand(deps: WebhookDeps): Command {
  return aboutAccount("remove", "delete the URL; queued deliveries are not sent")
    .option("--json", 'print {"removed"}')
    .action(async (account: string, { json }: JsonOption) =>
      withAccount(account, deps, async ({ webhooks, accountId, terminal }) => {
        const removed = await webhooks.setup.remove(accountId);
        if (!removed) throw refuse("no webhook is set for this account");
        print(terminal, json, { removed }, "Webhook removed.\n");
      }),
    );
}

function listenCommand(deps: WebhookDeps): Command {
  return new Command("listen")
    .description(
      "receive, verify and print webhooks, for development; reads the secret from standard input",
    )
    .option("--host <address>", "where to listen", "127.0.0.1")
    .option("--port <port>", "0 picks a free one", "8787")
    .option("--json", "print one JSON object a line")
    .action(async (options: ListenOptions) => listen(options, deps));
}

const withAccount = (
  account: string,
  { openWebhooks, terminal }: WebhookDeps,
  work: (scope: WebhookScope) => Promise<void>,
): Promise<void> =>
  withOpened(openWebhooks, async (webhooks) => {
    const { id: accountId } = await accountNamed(webhooks, account);
    await work({ terminal, webhooks, accountId });
  });

function eventNames(list: string): readonly string[] {
  const names = list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
  const unknown = names.find((name) => WEBHOOK_EVENTS.every((event) => event !== name));
  if (unknown === undefined) return names;
  throw misuse(`unknown event "${shown(unknown)}"; the events are ${WEBHOOK_EVENTS.join(", ")}`);
}

function settingsText(settings: WebhookSettings & { readonly secret?: string }): string {
  const { url, events, secret } = settings;
  const shown = secret === undefined ? "" : `Secret  ${secret}\n        It is not shown again.\n`;
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

interface ListenOptions extends JsonOption {
  readonly host: string;
  readonly port: string;
}

/** Prints what a webhook sends and whether its signature is valid, until it is interrupted. */
async function listen(options: ListenOptions, deps: WebhookDeps): Promise<void> {
  const { terminal, receive, readInput } = deps;
  const port = Number(options.port);
  if (!/^\d{1,5}$/.test(options.port) || port > 65_535) {
    throw misuse("the port must be a number from 0 to 65535");
  }
  if (terminal.interactive) terminal.err("Type the signing secret, then Enter and Ctrl-D.\n");
  const secret = (await readInput()).trim();
  if (secret === "") throw misuse("no secret on standard input");
  const receiver = await receive({ host: options.host, port }, (post) => {
    const verified = verifySignature(post.body, post.headers["x-service-signature"], secret);
    terminal.out(options.json === true ? postJson(post, verified) : paragraph(post, verified));
    return verified ? 204 : 401;
  });
  terminal.err(`Listening on ${receiver.url}, Ctrl-C to stop.\n`);
  await receiver.closed;
}

function postJson(post: ReceivedPost, verified: boolean): string {
  return `${visible(JSON.stringify({ verified, event: eventOf(post), body: bodyOf(post) }))}\n`;
}

function paragraph(post: ReceivedPost, verified: boolean): string {
  const signature = verified ? "signature good" : "SIGNATURE BAD";
  const body = bodyOf(post);
  const text = typeof body === "string" ? body : JSON.stringify(body, undefined, 2);
  return `${visible(`${eventOf(post) ?? "no event"}, ${signature}\n${text}`)}\n\n`;
}

function eventOf({ headers }: ReceivedPost): string | null {
  const event = headers["x-service-event"];
  return typeof event === "string" ? event : null;
}

/** Its JSON value, or its text if it is not JSON. */
function bodyOf({ body }: ReceivedPost): unknown {
  const text = new TextDecoder().decode(body);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** Any client may post here, so control characters must not reach the terminal. */
const visible = (text: string): string => text.replace(/[^\P{C}\n]/gu, "\ufffd");
