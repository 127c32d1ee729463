import type { Receive, ReceivedPost } from "../webhooks/loopback-receiver.ts";
import { verifySignature } from "../webhooks/verify.ts";
import { CommandFailure, EXIT, type Terminal } from "./terminal.ts";

export interface ListenDeps {
  readonly terminal: Terminal;
  readonly receive: Receive;
  /** Standard input to its end, at most a few KB. */
  readonly readInput: () => Promise<string>;
}

export interface ListenOptions {
  readonly host: string;
  readonly port: string;
  readonly json?: true;
}

/** Prints what a webhook sends and whether its signature is valid, until it is interrupted. */
export async function listen(options: ListenOptions, deps: ListenDeps): Promise<void> {
  const { terminal, receive, readInput } = deps;
  const port = Number(options.port);
  if (!/^\d{1,5}$/.test(options.port) || port > 65_535) {
    throw new CommandFailure(EXIT.usage, "the port must be a number from 0 to 65535");
  }
  if (terminal.interactive) terminal.err("Type the signing secret, then Enter and Ctrl-D.\n");
  const secret = (await readInput()).trim();
  if (secret === "") throw new CommandFailure(EXIT.usage, "no secret on standard input");
  const receiver = await receive({ host: options.host, port }, (post) => {
    const verified = verifySignature(post.body, post.headers["x-service-signature"], secret);
    terminal.out(options.json === true ? jsonLine(post, verified) : paragraph(post, verified));
    return verified ? 204 : 401;
  });
  terminal.err(`Listening on ${receiver.url}, Ctrl-C to stop.\n`);
  await receiver.closed;
}

function jsonLine(post: ReceivedPost, verified: boolean): string {
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
