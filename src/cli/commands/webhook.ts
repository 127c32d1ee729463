import type { CommandUnknownOpts } from "@commander-js/extra-typings";
import { type Deliveries, WEBHOOK_EVENTS } from "../../webhooks/webhooks-store.ts";
import type { WebhookSettings, WebhookSetup } from "../../webhooks/configure.ts";
import { verifySignature } from "../../webhooks/verify.ts";
import { type DeliveryRow, deliveryRow } from "../../webhooks/webhook-sender.ts";
import {
  type Receive,
  type ReceivedPost,
  receiveWebhooks,
} from "../../webhooks/loopback-receiver.ts";
import type { Dispatcher } from "../../webhooks/dispatcher.ts";
import {
  accountRowsFor,
  type CommandAnswer,
  commaNames,
  group,
  type Open,
  opening,
  rowsFor,
  type WithAccounts,
  wholeNumber,
} from "../command.ts";
import {
  CommandFailure,
  EXIT,
  harmless,
  type Terminal,
  misuse,
  refuse,
  shown,
} from "../terminal.ts";

export interface CliWebhooks extends WithAccounts {
  readonly setup: WebhookSetup;
  readonly dispatcher: Pick<Dispatcher, "ping">;
  readonly deliveries: Pick<Deliveries, "list">;
}

const onAccount = accountRowsFor<CliWebhooks>();

function readEvents(list: string): readonly string[] {
  const names = commaNames(list);
  const unknown = names.find((name) => WEBHOOK_EVENTS.every((event) => event !== name));
  if (unknown === undefined) return names;
  throw misuse(`unknown event "${shown(unknown)}"; the events are ${WEBHOOK_EVENTS.join(", ")}`);
}

function settingsAnswer(settings: WebhookSettings & { readonly secret?: string }): CommandAnswer {
  const { url, events, secret } = settings;
  const once = secret === undefined ? "" : `Secret  ${secret}\n        It is not shown again.\n`;
  const sent = events.length === 0 ? "all" : events.join(", ");
  return { json: settings, text: `URL     ${url}\nEvents  ${sent}\n${once}` };
}

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

const ROWS = [
  onAccount("set", {
    about: "set the URL, make a new secret and print it once",
    takes: (to) =>
      to
        .argument("<url>", "public https address")
        .option("--events <list>", "comma-separated; default: all events", readEvents),
    examples: ["gatepost webhook set jo@example.com https://hooks.example.com/gatepost"],
    run: async ({ id }, { setup }, { args: [, url], events = [] }) =>
      settingsAnswer(await setup.set(id, url, events)),
  }),
  onAccount("events", {
    about: "select the events to send",
    takes: (to) => to.argument("<list>", 'comma-separated; "" for all events', readEvents),
    examples: ["gatepost webhook events jo@example.com bulk.completed"],
    run: async ({ id }, { setup }, { args: [, list] }) =>
      settingsAnswer(await setup.selectEvents(id, list)),
  }),
  onAccount("secret", {
    about: "make a new secret and print it once; the old one stops working",
    examples: ["gatepost webhook secret jo@example.com"],
    run: async ({ id }, { setup }) => settingsAnswer(await setup.renewSecret(id)),
  }),
  onAccount("ping", {
    about: "send test.ping and print the result; exit 1 if it is not accepted",
    examples: ["gatepost webhook ping jo@example.com"],
    async run({ id }, { dispatcher }) {
      const json = deliveryRow(await dispatcher.ping(id));
      const isAccepted = json.status !== null && json.error === null;
      const failure = isAccepted ? undefined : new CommandFailure(EXIT.no);
      return { json, text: rowText(json), failure };
    },
  }),
  onAccount("log", {
    about: "list the deliveries of the last 7 days, newest first",
    takes: (to) =>
      to.option(
        "--limit <count>",
        "largest number of rows",
        wholeNumber("--limit", 1, 999_999),
        100,
      ),
    examples: ["gatepost webhook log jo@example.com --json"],
    async run({ id }, { deliveries }, { limit }) {
      const json = (await deliveries.list(id, limit)).map(deliveryRow);
      return { json, text: json.map(rowText).join("") };
    },
  }),
  onAccount("remove", {
    about: "delete the URL; queued deliveries are not sent",
    json: 'print {"removed"}',
    examples: ["gatepost webhook remove jo@example.com"],
    async run({ id }, { setup }) {
      const removed = await setup.remove(id);
      if (!removed) throw refuse("no webhook is set for this account");
      return { json: { removed }, text: "Webhook removed.\n" };
    },
  }),
];

/** Prints what a webhook sends and whether its signature is valid, until it is interrupted. */
const listen = rowsFor<{ readonly receive: Receive }>()("listen", {
  about:
    "receive, verify and print webhooks, for development; reads the secret from standard input",
  takes: (to) =>
    to
      .option("--host <address>", "where to listen", "127.0.0.1")
      .option("--port <port>", "0 picks a free one", wholeNumber("--port", 0, 65_535), 8787),
  json: "print one JSON object a line",
  examples: ["gatepost webhook listen --port 9000 < secret.txt"],
  async run({ host, port, json }, { receive }, terminal) {
    if (terminal.interactive) terminal.err("Type the signing secret, then Enter and Ctrl-D.\n");
    const secret = (await terminal.readInput()).trim();
    if (secret === "") throw misuse("no secret on standard input");
    const receiver = await receive({ host, port }, (post) => {
      const verified = verifySignature(post.body, post.headers["x-service-signature"], secret);
      terminal.out(json === true ? postJson(post, verified) : paragraph(post, verified));
      return verified ? 204 : 401;
    });
    terminal.err(`Listening on ${receiver.url}, Ctrl-C to stop.\n`);
    await receiver.closed;
  },
});

/** Any client may post here: control characters must not reach the terminal. */
function postJson(post: ReceivedPost, verified: boolean): string {
  return `${harmless(JSON.stringify({ verified, event: eventOf(post), body: bodyOf(post) }))}\n`;
}

function paragraph(post: ReceivedPost, verified: boolean): string {
  const signature = verified ? "signature good" : "SIGNATURE BAD";
  const body = bodyOf(post);
  const text = typeof body === "string" ? body : JSON.stringify(body, undefined, 2);
  return `${harmless(`${eventOf(post) ?? "no event"}, ${signature}\n${text}`)}\n\n`;
}

function eventOf({ headers }: ReceivedPost): string | null {
  const event = headers["x-service-event"];
  return typeof event === "string" ? event : null;
}

function bodyOf({ body }: ReceivedPost): unknown {
  const text = new TextDecoder().decode(body);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** `gatepost webhook ...`: an account's webhook and its deliveries. */
export function webhookCommand(
  terminal: Terminal,
  open: Open<CliWebhooks>,
  receive = receiveWebhooks,
): CommandUnknownOpts {
  const command = group("webhook", "notify an account's server of finished batches", ROWS);
  return command(terminal, open).addCommand(listen(terminal, opening({ receive })));
}
