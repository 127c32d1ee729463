import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Outside } from "./outside.ts";

/** Just in time: a registry that fails is left alone for some seconds. */
const SLOW_MS = 3_000;

async function rdapServer(delayMs: number) {
  const listener: RequestListener = (request, response) => {
    const name = request.url?.split("/").at(-1);
    const events = [{ eventAction: "registration", eventDate: "1997-09-15T04:00:00Z" }];
    const text = JSON.stringify({ objectClassName: "domain", ldhName: name, events });
    setTimeout(() => response.end(text), delayMs);
  };
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { server, url: `http://127.0.0.1:${String(port)}/` };
}

/** The registry of `.slow`, which attackers ask for, is slow; that of `.co`, which the victim asks for, is not. */
export async function slowRegistries(): Promise<Outside> {
  const [slow, good] = await Promise.all([rdapServer(SLOW_MS), rdapServer(0)]);
  const services = [
    [["slow"], [slow.url]],
    [["co"], [good.url]],
  ];
  const url = "http://127.0.0.1:1/";
  return {
    settings: { GATEPOST_OUTBOUND_ALLOW: "127.0.0.0/8", GATEPOST_RDAP_BOOTSTRAP_URL: url },
    feature: "domain_age",
    prepare({ directory }) {
      const folder = join(directory, "rdap");
      mkdirSync(folder);
      const document = JSON.stringify({ version: "1.0", services });
      const copy = JSON.stringify({ url, fetchedAtMs: Date.now(), document });
      writeFileSync(join(folder, "dns.json"), copy);
      return Promise.resolve();
    },
    stop() {
      slow.server.close();
      good.server.close();
    },
  };
}
