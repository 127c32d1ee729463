import { connect as connectTcp, isIP, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import type { Answer, Awaitable } from "../core/mail/lookup.ts";
import type { Clock } from "../base/clock.ts";
import type { OutboundFailure, OutboundFault, OutboundResult } from "./outbound-types.ts";
import { type AddressRanges, isPublicAddress } from "./public-address.ts";

export interface DialDeps {
  /** The project's own DNS: `Lookup.addresses`. Never the system's resolver. */
  readonly addresses: (host: string) => Awaitable<Answer<string>>;
  readonly clock: Pick<Clock, "after">;
  /** Addresses that are not public and may be dialled all the same. */
  readonly allowed?: AddressRanges | undefined;
  readonly connect?: (address: string, port: number) => Socket;
}

const connectTo = (address: string, port: number): Socket =>
  connectTcp({ host: address, port, family: isIP(address) });

/** Addresses of one name that are tried, and how long one may take to accept. */
const ADDRESSES_MAX = 4;
const CONNECT_MS = 3_000;

export function failure(fault: OutboundFault, detail?: string): OutboundFailure {
  return detail === undefined ? { ok: false, fault } : { ok: false, fault, detail };
}

/** The system's or OpenSSL's code of an error; "unknown" when it has none. */
export function codeOf(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : "unknown";
}

export async function withDeadline<T>(
  timeoutMs: number,
  clock: DialDeps["clock"],
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const cancel = clock.after(timeoutMs, () => controller.abort());
  try {
    return await work(controller.signal);
  } finally {
    cancel();
  }
}

export function onAbort(signal: AbortSignal, stop: () => void): () => void {
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  return () => signal.removeEventListener("abort", stop);
}

export async function orAborted<T>(
  work: Awaitable<T>,
  signal: AbortSignal,
): Promise<T | "aborted"> {
  let off = (): void => undefined;
  const aborted = new Promise<"aborted">((resolve) => {
    off = onAbort(signal, () => resolve("aborted"));
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    off();
  }
}

async function answerFor(host: string, deps: Pick<DialDeps, "addresses">): Promise<Answer<string>> {
  if (isIP(host) !== 0) return { kind: "found", records: [host] };
  // The resolver's own duty (RFC 6761 section 6.3); what comes of it is for the guard to say.
  if (host === "localhost") return { kind: "found", records: ["127.0.0.1"] };
  return deps.addresses(host);
}

/** In DNS order, at most four, if every one may be dialled: the next answer could list a bad one first. */
async function checkedAddresses(
  host: string,
  deps: Pick<DialDeps, "addresses" | "allowed">,
  signal: AbortSignal,
): Promise<OutboundResult<readonly string[]>> {
  const answer = await orAborted(answerFor(host, deps), signal);
  if (answer === "aborted") return failure("timeout");
  if (answer.kind === "unknown") return failure("unresolved", answer.why);
  if (answer.kind === "absent") return failure("no_address", answer.why);
  const bad = answer.records.find((address) => !mayDial(address, deps));
  if (bad !== undefined) return failure("not_public", bad);
  return { ok: true, value: answer.records.slice(0, ADDRESSES_MAX) };
}

const mayDial = (address: string, { allowed }: Pick<DialDeps, "allowed">): boolean =>
  isPublicAddress(address) || allowed?.has(address) === true;

/** Connects to the host of an http or https URL, whose addresses must be public or allowed. */
export async function dial(
  url: URL,
  deps: DialDeps,
  signal: AbortSignal,
): Promise<OutboundResult<Socket>> {
  const host = hostOf(url);
  const addresses = await checkedAddresses(host, deps, signal);
  if (!addresses.ok) return addresses;
  let last: OutboundResult<Socket> = failure("unreachable");
  for (const address of addresses.value) {
    last = await open(address, portOf(url), { ...deps, signal });
    if (last.ok || last.fault === "timeout") break;
  }
  return last.ok && url.protocol === "https:" ? secure(last.value, host, signal) : last;
}

/** A literal address without its brackets, a name without its last dot. */
export const hostOf = ({ hostname }: URL): string =>
  hostname.startsWith("[") ? hostname.slice(1, -1) : hostname.replace(/\.$/, "");

export const portOf = ({ port, protocol }: URL): number =>
  port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);

/** The one place where a socket is opened, and so the place that checks the very address it opens. */
async function open(
  address: string,
  port: number,
  deps: DialDeps & { readonly signal: AbortSignal },
): Promise<OutboundResult<Socket>> {
  if (!mayDial(address, deps)) return failure("not_public", address);
  if (deps.signal.aborted) return failure("timeout");
  const { clock, connect = connectTo } = deps;
  const socket = connect(address, port);
  const tooSlow = Object.assign(new Error("connect"), { code: "ETIMEDOUT" });
  const cancel = clock.after(CONNECT_MS, () => socket.destroy(tooSlow));
  const result = await ready(socket, "connect", deps.signal);
  cancel();
  return result;
}

/** TLS on an open socket: SNI and certificate for `host`, always verified, regardless of the environment. */
export async function secure(
  socket: Socket,
  host: string,
  signal: AbortSignal,
): Promise<OutboundResult<Socket>> {
  const named = isIP(host) === 0 ? { servername: host } : {};
  const secured = connectTls({
    socket,
    host,
    ...named,
    rejectUnauthorized: true,
    minVersion: "TLSv1.2",
    ALPNProtocols: ["http/1.1"],
  });
  const result = await ready(secured, "secureConnect", signal);
  if (result.ok) return result;
  socket.destroy();
  return result.fault === "timeout" ? result : { ...result, fault: "tls" };
}

export function ready(
  socket: Socket,
  event: "connect" | "secureConnect",
  signal: AbortSignal,
): Promise<OutboundResult<Socket>> {
  return new Promise((resolve) => {
    const fail = (fault: OutboundFault, detail?: string): void => {
      socket.destroy();
      resolve(failure(fault, detail));
    };
    // Stays on: an error that comes after the outcome must not become an uncaught one.
    socket.on("error", (error) => fail("unreachable", codeOf(error)));
    socket.once("close", () => fail("unreachable", "closed"));
    const off = onAbort(signal, () => fail("timeout"));
    socket.once(event, () => {
      off();
      resolve({ ok: true, value: socket });
    });
  });
}

/** Why a host name or a literal address (without brackets) leads nowhere public, by DNS as it answers now; undefined: it does. */
export type PublicHostCheck = (host: string) => Promise<OutboundFailure | undefined>;

const RESOLVE_MS = 5_000;

export function createPublicHostCheck({
  addresses,
  clock,
}: Pick<DialDeps, "addresses" | "clock">): PublicHostCheck {
  return async (host) => {
    const result = await withDeadline(RESOLVE_MS, clock, (signal) =>
      checkedAddresses(host, { addresses }, signal),
    );
    return result.ok ? undefined : result;
  };
}
