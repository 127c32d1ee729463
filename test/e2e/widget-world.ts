import { createServer, type IncomingMessage } from "node:http";
import type { Page } from "playwright-core";
import { decideRoute } from "../../src/http/api/decide.ts";
import { DEFAULT_LIMITS, listen } from "../../src/http/server.ts";
import { gatePages } from "../../src/http/system/widget.ts";
import { appWith } from "../http/http-app.ts";
import { listening } from "../http/peer.ts";
import { gateWorld } from "../policy/gate-world.ts";
import { PATIENCE_MS, until } from "../time/until.ts";

export interface WidgetWorld {
  readonly gateUrl: string;
  readonly siteUrl: string;
  /** What forms sent. */
  readonly signUps: readonly URLSearchParams[];
  stopGate(): Promise<void>;
  close(): Promise<void>;
}

/** The start tag of the widget's script. */
export type Script = (attributes?: string) => string;

/**
 * The gate, and a site on an origin of its own, under a policy that allows the widget and the site's scripts and nothing else. Forms
 * that are sent get `welcome`; paths that end in ".js" are scripts.
 */
export async function openWidgetWorld(
  pages: (script: Script) => Readonly<Record<string, string>>,
  welcome = "",
): Promise<WidgetWorld> {
  const closers: (() => unknown)[] = [];
  const world = await gateWorld(
    { after: (close) => void closers.push(close as () => unknown) },
    { known: { curated: ["bad.example"] } },
  );
  const app = appWith({
    admission: world.admission,
    routes: [decideRoute(world.decideOne, world.admission)],
    pages: { pages: gatePages },
  });
  const limits = { ...DEFAULT_LIMITS, stopTimeoutMs: 0 };
  const gate = await listen(app, { host: "127.0.0.1", port: 0 }, { limits });
  const signUps: URLSearchParams[] = [];
  let served: Readonly<Record<string, string>> = {};
  const answer = async (request: IncomingMessage): Promise<string> => {
    if (request.method !== "POST") return served[request.url ?? ""] ?? "";
    signUps.push(new URLSearchParams(await textOf(request)));
    return welcome;
  };
  const site = await listening(
    createServer((request, response) => {
      const type = request.url?.endsWith(".js") === true ? "javascript" : "html";
      response.writeHead(200, {
        "content-type": `text/${type}; charset=utf-8`,
        "content-security-policy": `default-src 'none'; script-src 'self' ${gate.url}; connect-src ${gate.url}; form-action 'self'`,
      });
      void answer(request).then((text) => response.end(text));
    }),
  );
  const { id } = await world.account("owner@shop.example");
  const made = await world.store.keys.create(id, "page", { origins: [site.url], form: "join" });
  served = pages(
    (attributes = "") =>
      `<script src="${gate.url}/widget.js" data-key="${made.apiKey}"${attributes} defer></script>`,
  );
  return {
    gateUrl: gate.url,
    siteUrl: site.url,
    signUps,
    stopGate: () => gate.stop(),
    async close() {
      await site.close();
      await gate.stop();
      for (const close of closers) await close();
    },
  };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += String(piece);
  return text;
}

/** Types an address as a person does, and leaves the field. */
export async function typeAddress(page: Page, address: string): Promise<void> {
  await page.locator("#email").focus();
  await page.keyboard.press("ControlOrMeta+a");
  await page.keyboard.type(address);
  await page.keyboard.press("Tab");
}

export const tokenOf = (page: Page): Promise<string> =>
  page.locator('input[name="gatepost-token"]').inputValue();

export const decided = (page: Page): Promise<true> =>
  until(async () => (await tokenOf(page)) !== "", { what: "a decision", withinMs: PATIENCE_MS });
