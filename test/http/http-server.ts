import type { Server } from "node:http";
import {
  DEFAULT_LIMITS,
  createListener,
  listen,
  type ListenLimits,
} from "../../src/main/process/listening/listen.ts";
import { createShares } from "../../src/base/shares.ts";
import type { AppDeps } from "../../src/http/app/app.ts";
import { appWith } from "./http-app.ts";
import { realClock } from "../time/real-clock.ts";

export interface TestServer {
  readonly port: number;
  /** To shorten its time limits while it runs. */
  readonly http: Server;
  readonly stop: () => Promise<void>;
}

/** The real app on a real listener on loopback, with fakes behind it. */
export async function testServer(
  over: Partial<AppDeps> = {},
  limits: Partial<ListenLimits> = {},
): Promise<TestServer> {
  const all = { ...DEFAULT_LIMITS, ...limits };
  const shares = createShares();
  const terms = {
    share: shares.of("connections"),
    reading: shares.of("reading"),
    trustedProxies: [],
    clock: realClock,
  };
  const app = await appWith({ ...over, listener: createListener(all, terms) });
  const { url, stop } = await listen(app, { host: "127.0.0.1", port: 0 }, all);
  return { port: Number(new URL(url).port), http: app.server, stop };
}
