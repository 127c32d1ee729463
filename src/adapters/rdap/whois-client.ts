import type { Answer, Registration } from "../../core/mail/lookup.ts";
import type { Outbound } from "../../ports/process/outbound.ts";
import { dateMs } from "./event-date.ts";
import { reasonOf, unknown } from "./rdap-client.ts";
import type { OwnerKey } from "../../ports/admission/owner.ts";
import type { ServerSlots } from "./server-slots.ts";
import type { WhoisServer } from "./whois-servers.ts";

export interface WhoisDeps {
  readonly outbound: Pick<Outbound, "tcp">;
  readonly slots: ServerSlots;
  readonly by?: OwnerKey | undefined;
  readonly timeoutMs: number;
}

const BYTES_MAX = 65_536;
const FAILED_MS = 5_000;

/** The server whose longest suffix `domain` lies under. */
export function whoisServerFor(
  domain: string,
  servers: readonly WhoisServer[],
): WhoisServer | undefined {
  const matches = servers.flatMap((server) =>
    server.suffixes
      .filter((suffix) => domain.endsWith(`.${suffix}`))
      .map((suffix) => ({ server, length: suffix.length })),
  );
  return matches.sort((a, b) => b.length - a.length)[0]?.server;
}

/** Asks one WHOIS server (RFC 3912 section 2) and keeps only the day of registration. */
export async function askWhois(
  server: WhoisServer,
  domain: string,
  { outbound, slots, timeoutMs, by }: WhoisDeps,
): Promise<Answer<Registration>> {
  const { host, port, query } = server;
  const answer = await slots.run(
    `${host}:${String(port)}`,
    async () => {
      const send = new TextEncoder().encode(`${query.replace("%", domain)}\r\n`);
      const result = await outbound.tcp({ host, port, send, timeoutMs, maxBytes: BYTES_MAX });
      if (result.ok) return readAnswer(new TextDecoder().decode(result.value), server);
      slots.hold(`${host}:${String(port)}`, FAILED_MS);
      return unknown(reasonOf(result));
    },
    by,
  );
  return answer ?? unknown("refused");
}

/** An answer with neither a date nor "no such domain" may be a rate limit: the result is unknown. */
function readAnswer(text: string, { registered, absent }: WhoisServer): Answer<Registration> {
  const lines = text.replaceAll("\r\n", "\n");
  const { year, month, day } = registered.exec(lines)?.groups ?? {};
  const registeredAtMs = dateMs(year, month, day);
  if (registeredAtMs !== undefined) return { kind: "found", records: [{ registeredAtMs }] };
  return absent.test(lines) ? { kind: "absent", why: "noName" } : unknown("malformed");
}
