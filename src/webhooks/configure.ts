import { isIPv4 } from "node:net";
import type { Note } from "../accounts/audit.ts";
import type { Ids } from "../base/ids.ts";
import type { PublicHostCheck } from "../outbound/dial.ts";
import type { OutboundFailure } from "../outbound/outbound-types.ts";
import type { SecretBox } from "../base/secrets.ts";
import { WEBHOOK_EVENTS, type WebhookEndpoints, type WebhookEvent } from "./webhooks-store.ts";
import { noWebhook, unknownWebhookEvent, webhookUrlRefused } from "../base/refusals.ts";
import { isSpecialUse, parseDomain } from "../core/name/domain.ts";
import { v6Groups } from "../core/name/ip-address.ts";

/** Ports that browsers refuse (WHATWG Fetch, "port blocking"): other protocols live there. */
const REFUSED_PORTS: ReadonlySet<number> = new Set([
  0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
]);

type RefusedUrl = { readonly ok: false; readonly reason: string };

/** `host` is in A-labels, or a literal address without brackets. */
type ReadWebhookUrl =
  { readonly ok: true; readonly url: string; readonly host: string } | RefusedUrl;

const URL_MAX_UNITS = 2_048;
const TOO_LONG = "The URL is longer than 2,048 characters.";

/** Blanks, controls and "\", which URL parsers drop or turn into something else. */
const REPAIRED = /[\s\p{Cc}\p{Cf}\\]/u;
const PARTS = /^https:\/\/(?<authority>[^/?]*)(?<rest>.*)$/iu;
const AUTHORITY = /^(?<host>\[[^\]]*\]|[^:[\]]*)(?::(?<port>\d{1,5}))?$/u;

const no = (reason: string): RefusedUrl => ({ ok: false, reason });

/**
 * Reads the URL of a webhook, by syntax alone; where its host leads is for DNS to say. The host is read by
 * the project's own rules, never repaired: a look-alike or a number that `URL` would read as an address
 * is refused, and a name in other letters is shown in A-labels.
 */
export function readWebhookUrl(text: string): ReadWebhookUrl {
  const { authority = "", rest = "" } = PARTS.exec(text)?.groups ?? {};
  const { host = "", port } = AUTHORITY.exec(authority)?.groups ?? {};
  const faults: readonly (readonly [isThere: boolean, reason: string])[] = [
    [text === "", "Give a URL."],
    [text.length > URL_MAX_UNITS, TOO_LONG],
    [REPAIRED.test(text), "The URL must not hold blanks, control characters or backslashes."],
    [text.includes("#"), "The URL must not hold a fragment (#...)."],
    [!PARTS.test(text), "The URL must begin with https://."],
    [authority.includes("@"), "The URL must not hold a user name or password."],
    [authority.endsWith(":"), "The port is missing."],
    [host === "", "The URL has no host, or its port is not a number."],
    [Number(port) > 65_535, "The port must be at most 65535."],
    [REFUSED_PORTS.has(Number(port)), `Port ${String(port)} belongs to another protocol.`],
  ];
  const fault = faults.find(([isThere]) => isThere);
  if (fault !== undefined) return no(fault[1]);
  const read = readHost(host);
  return read.ok ? whole(read.host, port, rest) : read;
}

function readHost(host: string): { readonly ok: true; readonly host: string } | RefusedUrl {
  if (host.startsWith("[")) {
    const literal = host.slice(1, -1).toLowerCase();
    const isAddress = v6Groups(literal) !== undefined;
    return isAddress ? { ok: true, host: literal } : no("The host is not an IPv6 address.");
  }
  // Without leading zeros; every other spelling of an address is refused as a name.
  if (isIPv4(host)) return { ok: true, host };
  const domain = parseDomain(host);
  if (!domain.ok) return no(HOST_WORDS.get(domain.fault) ?? "The host is not a valid domain name.");
  const { name } = domain.value;
  return isSpecialUse(name)
    ? no(`The host ${name} is reserved for special use and not public.`)
    : { ok: true, host: name };
}

const HOST_WORDS: ReadonlyMap<string, string> = new Map([
  ["dotless", "The host must be a full domain name, such as hooks.example.com."],
  ["domain_dot_end", "Write the host without the dot at its end."],
  ["tld_shape", "The host is neither a domain name nor a plain IP address."],
]);

/** `URL` encodes the path as a browser does; the host is already beyond repair. */
function whole(host: string, port: string | undefined, rest: string): ReadWebhookUrl {
  const shown = host.includes(":") ? `[${host}]` : host;
  const text = `https://${shown}${port === undefined ? "" : `:${port}`}${rest}`;
  if (!URL.canParse(text)) return no("This is not a valid URL.");
  const { href } = new URL(text);
  return href.length > URL_MAX_UNITS ? no(TOO_LONG) : { ok: true, url: href, host };
}

interface ConfigureDeps {
  readonly note?: Note;
  readonly endpoints: Pick<WebhookEndpoints, keyof WebhookEndpoints>;
  readonly box: SecretBox;
  readonly ids: Pick<Ids, "bytes">;
  readonly checkHost: PublicHostCheck;
}

const SECRET_BYTES = 32;

/** What an account may do with its webhook. All but `show` and `remove` throw a `Refusal` for what is wrong. */
export class WebhookSetup {
  readonly #deps: ConfigureDeps;

  constructor(deps: ConfigureDeps) {
    this.#deps = deps;
  }

  by(note: Note): WebhookSetup {
    return new WebhookSetup({ ...this.#deps, note });
  }

  async show(accountId: string) {
    const endpoint = await this.#deps.endpoints.find(accountId);
    return endpoint && { url: endpoint.url, events: endpoint.events };
  }

  async set(accountId: string, text: string, names: readonly string[]) {
    const { endpoints, box, checkHost, note } = this.#deps;
    const events = readEvents(names);
    const url = await publicHttpsUrl(text, checkHost);
    const secret = this.#newSecret();
    await endpoints.save({ accountId, url, events, sealedSecret: box.seal(secret, accountId) });
    await note?.({ action: "webhook.saved", accountId, detail: new URL(url).host });
    return { url, events, secret };
  }

  async selectEvents(accountId: string, names: readonly string[]) {
    const settings = await this.#change(accountId, { events: readEvents(names) });
    await this.#deps.note?.({ action: "webhook.saved", accountId, detail: "events" });
    return settings;
  }

  /** The old secret ends at once, for deliveries already queued too. */
  async renewSecret(accountId: string) {
    const { box, note } = this.#deps;
    const secret = this.#newSecret();
    const settings = await this.#change(accountId, { sealedSecret: box.seal(secret, accountId) });
    await note?.({ action: "webhook.secret", accountId });
    return { ...settings, secret };
  }

  async remove(accountId: string): Promise<boolean> {
    const { endpoints, note } = this.#deps;
    const isRemoved = await endpoints.remove(accountId);
    if (isRemoved) await note?.({ action: "webhook.removed", accountId });
    return isRemoved;
  }

  #newSecret(): string {
    return Buffer.from(this.#deps.ids.bytes(SECRET_BYTES)).toString("hex");
  }

  async #change(accountId: string, columns: Parameters<WebhookEndpoints["change"]>[1]) {
    const isThere = await this.#deps.endpoints.change(accountId, columns);
    const settings = isThere ? await this.show(accountId) : undefined;
    if (settings === undefined) throw noWebhook();
    return settings;
  }
}

export type WebhookSettings = NonNullable<Awaited<ReturnType<WebhookSetup["show"]>>>;

function readEvents(names: readonly string[]): readonly WebhookEvent[] {
  const unknown = names.find((name) => !WEBHOOK_EVENTS.some((event) => event === name));
  if (unknown !== undefined) throw unknownWebhookEvent(unknown.slice(0, 64), WEBHOOK_EVENTS);
  return WEBHOOK_EVENTS.filter((event) => names.includes(event));
}

/** The URL as it is called. Throws the `Refusal` of one that is not https or does not lead to public addresses. */
export async function publicHttpsUrl(text: string, checkHost: PublicHostCheck): Promise<string> {
  const read = readWebhookUrl(text);
  if (!read.ok) throw webhookUrlRefused(read.reason);
  const failed = await checkHost(read.host);
  if (failed !== undefined) throw webhookUrlRefused(hostWords(read.host, failed));
  return read.url;
}

function hostWords(host: string, { fault, detail }: OutboundFailure): string {
  if (fault === "no_address") return `The host ${host} has no address in DNS.`;
  if (fault !== "not_public") {
    return `The host ${host} could not be looked up in DNS just now. Try again later.`;
  }
  return detail === host
    ? `The address ${host} is not on the public internet.`
    : `The host ${host} leads to an address that is not public.`;
}
