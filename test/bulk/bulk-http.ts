import { assertDocumented } from "../http/documented.ts";
import type { TestContext } from "node:test";
import { readTrustedProxies } from "../../src/http/client-address.ts";
import { bulkHandler } from "../../src/http/api/bulk.ts";
import { readFile, type ReadFile } from "../../src/http/api/read-file.ts";
import { uploadRoute } from "../../src/http/api/upload.ts";
import { viewRoute } from "../../src/http/api/view.ts";
import { createShares, type Shares } from "../../src/base/shares.ts";
import { BodyReader } from "../../src/http/body.ts";
import type { BulkService } from "../../src/bulk/jobs/submit.ts";
import type { Caller } from "../../src/accounts/admission/caller.ts";
import type { Admission } from "../../src/accounts/admission/admission.ts";
import { rateExceeded } from "../../src/base/refusals.ts";
import { bulkWorld, type BulkWorld, mailEverywhere, type WorldOptions } from "./bulk-world.ts";
import { appDeps } from "../http/http-app.ts";
import { testServer } from "../http/http-server.ts";
import { callerAt, openAdmission } from "../http/open-admission.ts";

export interface BulkServer extends BulkWorld {
  readonly port: number;
  /** Sends a request and reads the whole answer. `path` is sent as `fetch` sends it. */
  ask(path: string, options?: AskOptions): Promise<Answer>;
  /** A form post. */
  post(path: string, form: string, options?: AskOptions): Promise<Answer>;
  /** The answer after its headers; the caller reads the body. */
  open(path: string, options?: AskOptions): Promise<Response>;
  /** Keys that are refused from now on. */
  readonly revoked: Set<string>;
  readonly shares: Shares;
  readonly stop: () => Promise<void>;
}

export interface AskOptions {
  readonly method?: string;
  /** "a1" is a separate account; absent: no key. */
  readonly key?: string;
  /** The client's address; default 192.0.2.1. */
  readonly from?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: RequestInit["body"];
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: string;
}

/** The caller of a key: a Pro account named like the key; without a key the client address. */
function callerOf(key: string | undefined, clientAddress: string): Caller {
  if (key === undefined) return callerAt(clientAddress);
  const owner = { kind: "account", accountId: key } as const;
  return { owner, tier: "pro", clientAddress, keyId: `key-${key}` };
}

/** An admission that knows every key; the key "spent" has used up its rate, "credits" too but has credits left. */
function keyedGate(): Admission {
  return {
    ...openAdmission(),
    enter: ({ apiKey }, clientAddress) => {
      const caller = callerOf(apiKey[0], clientAddress);
      const rate = { limit: 30, remaining: apiKey[0] === "spent" ? 0 : 29 };
      const more = apiKey[0] === "spent" ? { refusal: rateExceeded(17_000) } : {};
      return { caller, rate, hasCredits: false, ...more };
    },
  };
}

type Bulk = Pick<BulkService, keyof BulkService>;

export interface ServerOptions extends Partial<WorldOptions> {
  readonly over?: (bulk: BulkService) => Partial<Bulk>;
  /** Of files; here unless given. */
  readonly readLarge?: ReadFile;
}

/** The bulk faces on a real listener, with the real service and its stores behind them. */
export async function bulkServer(
  t: TestContext,
  { over = () => ({}), readLarge = readFile, ...options }: ServerOptions = {},
): Promise<BulkServer> {
  const world = await bulkWorld(t, { lookup: mailEverywhere(), ...options });
  const { clock, log } = world.stores;
  const { bulk: real } = world;
  const bulk: Bulk = {
    submit: (admitted, request) => real.submit(admitted, request),
    entriesMax: (caller) => real.entriesMax(caller),
    view: (caller, session) => real.view(caller, session),
    results: (caller, session) => real.results(caller, session),
    remove: (caller, session) => real.remove(caller, session),
    ...over(real),
  };
  const revoked = new Set<string>();
  const { settings } = appDeps();
  const shares = createShares();
  const bodies = new BodyReader({ shares, clock });
  const checkList = bulkHandler(bulk, log);
  const server = await testServer({
    admission: keyedGate(),
    log,
    bodies,
    bulk: checkList,
    routes: [
      viewRoute({ bulk, log, shares }),
      uploadRoute({ bulk, bodies, checkList, log, readLarge }),
    ],
    settings: { ...settings, trustedProxies: readTrustedProxies("127.0.0.1") },
  });
  t.after(() => server.stop());
  const open: BulkServer["open"] = (path, { method, key, from, headers, body } = {}) =>
    fetch(`http://127.0.0.1:${String(server.port)}${path}`, {
      method: method ?? (body === undefined ? "GET" : "POST"),
      headers: {
        "x-forwarded-for": from ?? "192.0.2.1",
        ...(key === undefined ? {} : { "x-api-key": key }),
        ...headers,
      },
      ...(body === undefined ? {} : { body }),
    });
  const ask: BulkServer["ask"] = async (path, asked) => {
    const answer = await open(path, asked);
    const { status, headers } = answer;
    const text = await answer.text();
    const method = asked?.method ?? (asked?.body === undefined ? "GET" : "POST");
    assertDocumented({ method, url: path, status, type: headers.get("content-type") ?? "", text });
    return { status, headers, body: text };
  };
  const post: BulkServer["post"] = (path, form, { headers, ...asked } = {}) =>
    ask(path, {
      ...asked,
      headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
      body: form,
    });
  return { ...world, port: server.port, ask, post, open, revoked, shares, stop: server.stop };
}

/** The session that an answer names. */
export function sessionIn({ body }: Answer): string {
  return /"session":"([0-9a-f]{32})"/.exec(body)?.[1] ?? "none";
}
