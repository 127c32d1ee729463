import { createShares, type Share } from "../../src/base/shares.ts";
import type { AppDeps } from "../../src/http/app.ts";
import { DEFAULT_LIMITS, listen, type ListenLimits } from "../../src/http/server.ts";
import { appWith } from "./http-app.ts";

export interface TestServer {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** The real app on a real listener on loopback, with fakes behind it. */
export async function testServer(
  over: Partial<AppDeps> = {},
  limits: Partial<ListenLimits> = {},
  share: Share = createShares().of("connections"),
): Promise<TestServer> {
  const terms = {
    limits: { ...DEFAULT_LIMITS, farewellMs: 0, ...limits },
    share,
    trustedProxies: [],
  };
  const { port, stop } = await listen(appWith(over), { host: "127.0.0.1", port: 0 }, terms);
  return { port, stop };
}
