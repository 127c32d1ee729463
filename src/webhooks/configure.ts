import type { Ids } from "../base/ids.ts";
import type { HostStanding, HostCheck } from "../outbound/public-host-types.ts";
import type { SecretBox } from "../base/secret-box.ts";
import { WEBHOOK_EVENTS } from "./webhook-store.ts";
import type { WebhookEndpoints, WebhookEvent } from "./webhook-store.ts";
import { noWebhook, unknownWebhookEvent, webhookUrlRefused } from "../base/refusals.ts";
import { readWebhookUrl } from "./webhook-url.ts";

export interface WebhookSettings {
  readonly url: string;
  /** Empty: all events. */
  readonly events: readonly WebhookEvent[];
}

/** With the secret in clear: shown once, never readable again. */
export interface NewWebhookSettings extends WebhookSettings {
  /** 64 hexadecimal digits. */
  readonly secret: string;
}

/** What an account may do with its webhook. All but `show` and `remove` throw a `Refusal` for what is wrong. */
export interface WebhookSetup {
  show(accountId: string): Promise<WebhookSettings | undefined>;
  /** Saves the URL with a new secret, replacing any earlier one. */
  set(accountId: string, url: string, events: readonly string[]): Promise<NewWebhookSettings>;
  selectEvents(accountId: string, events: readonly string[]): Promise<WebhookSettings>;
  /** The old secret ends at once, for deliveries already queued too. */
  renewSecret(accountId: string): Promise<NewWebhookSettings>;
  /** False when there was none. */
  remove(accountId: string): Promise<boolean>;
}

export interface ConfigureDeps {
  readonly endpoints: WebhookEndpoints;
  readonly box: SecretBox;
  readonly ids: Pick<Ids, "bytes">;
  readonly checkHost: HostCheck;
}

const SECRET_BYTES = 32;

export function createWebhookSetup(deps: ConfigureDeps): WebhookSetup {
  const { endpoints, box } = deps;
  const existing = async (accountId: string): Promise<WebhookSettings> => {
    const endpoint = await endpoints.find(accountId);
    if (endpoint === undefined) throw noWebhook();
    return { url: endpoint.url, events: endpoint.events };
  };
  return {
    async show(accountId) {
      const endpoint = await endpoints.find(accountId);
      return endpoint && { url: endpoint.url, events: endpoint.events };
    },
    async set(accountId, text, names) {
      const events = readEvents(names);
      const url = await publicHttpsUrl(text, deps.checkHost);
      const secret = newSecret(deps.ids);
      await endpoints.save({ accountId, url, events, sealedSecret: box.seal(secret, accountId) });
      return { url, events, secret };
    },
    async selectEvents(accountId, names) {
      if (!(await endpoints.setEvents(accountId, readEvents(names)))) throw noWebhook();
      return existing(accountId);
    },
    async renewSecret(accountId) {
      const secret = newSecret(deps.ids);
      if (!(await endpoints.setSecret(accountId, box.seal(secret, accountId)))) throw noWebhook();
      return { ...(await existing(accountId)), secret };
    },
    remove: (accountId) => endpoints.remove(accountId),
  };
}

const newSecret = (ids: Pick<Ids, "bytes">): string =>
  Array.from(ids.bytes(SECRET_BYTES), (octet) => octet.toString(16).padStart(2, "0")).join("");

/** In the order of `WEBHOOK_EVENTS`, each once. */
function readEvents(names: readonly string[]): readonly WebhookEvent[] {
  const unknown = names.find((name) => !WEBHOOK_EVENTS.some((event) => event === name));
  if (unknown !== undefined) throw unknownWebhookEvent(unknown.slice(0, 64), WEBHOOK_EVENTS);
  return WEBHOOK_EVENTS.filter((event) => names.includes(event));
}

/** The URL as it is called. Throws the `Refusal` of one that is not https or does not lead to public addresses. */
export async function publicHttpsUrl(text: string, checkHost: HostCheck): Promise<string> {
  const read = readWebhookUrl(text);
  if (!read.ok) throw webhookUrlRefused(read.reason);
  const reason = standingWords(read.host, await checkHost(read.host));
  if (reason !== undefined) throw webhookUrlRefused(reason);
  return read.url;
}

function standingWords(host: string, standing: HostStanding): string | undefined {
  switch (standing.kind) {
    case "public":
      return undefined;
    case "not_public":
      return standing.address === host
        ? `The address ${host} is not on the public internet.`
        : `The host ${host} leads to an address that is not public.`;
    case "no_address":
      return `The host ${host} has no address in DNS.`;
    case "unresolved":
      return `The host ${host} could not be looked up in DNS just now. Try again later.`;
  }
}
