/**
 * `npm run bench:http`: a cached single check by the whole real service, without and with a key, against bare
 * node:http serving the same bytes. All live through the whole run and are measured in turns, so that other
 * load affects all of them; a ratio is the median of the ratios of neighbouring rounds. Targets: at
 * least 0.90 without a key, and with key, rate and quota.
 */
import { compare, type Contender, launch } from "./http-rounds.ts";
import { CHECKED } from "./http-result.ts";

async function start(server: "service" | "bare"): Promise<readonly Contender[]> {
  const file = new URL("./http-server.js", import.meta.url);
  const { url, key, process: child } = await launch(file, server);
  const common = { process: child, url: `${url}/api/email/${CHECKED}` };
  if (server === "bare") return [{ ...common, name: "bare node:http", headers: [], rounds: [] }];
  return [
    { ...common, name: "service, no key", headers: [], rounds: [] },
    { ...common, name: "service, key", headers: ["-H", `x-api-key=${key}`], rounds: [] },
  ];
}

const TARGETS = new Map([
  ["service, no key", 0.9],
  ["service, key", 0.9],
]);

await compare([...(await start("service")), ...(await start("bare"))], TARGETS);
