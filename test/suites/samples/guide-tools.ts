import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { CLIENT_CASES } from "../../clients/cases.ts";
import { httpPeer, type Peer } from "../../http/peer.ts";
import { until } from "../../time/until.ts";

/** What `npm ci` in clients/typescript/frameworks installed. */
export const FRAMEWORKS = fileURLToPath(
  new URL("../../../../clients/typescript/frameworks/node_modules", import.meta.url),
);

export const worksIn = (program: string, code: string, flag: string): boolean =>
  spawnSync(program, [flag, code], { stdio: "ignore" }).status === 0;

/** The one that has Django. */
export const PYTHON =
  ["python3", "/usr/bin/python3"].find((each) => worksIn(each, "import django", "-c")) ?? "python3";

const BUILT = new URL("../../../clients/typescript/src/index.js", import.meta.url).href;

/** Makes `gatepost-client` a package of the folder. */
export function layClient(place: string): void {
  const library = join(place, "node_modules/gatepost-client");
  mkdirSync(library, { recursive: true });
  writeFileSync(join(library, "package.json"), '{"type":"module","exports":"./index.js"}');
  writeFileSync(join(library, "index.js"), `export * from "${BUILT}";`);
}

export const TRIES = 10;

/**
 * What a new process says. Whoever waits too long for an answer is let in, as the guides want it, and on a busy machine that may be
 * the first question of a process; one that lets everybody in is found all the same.
 */
export async function inTime<Said extends string | readonly string[]>(
  ask: () => Promise<Said>,
  wanted: Said,
): Promise<Said> {
  const wants = [wanted].flat();
  let said = await ask();
  const isLetIn = (): boolean => [said].flat().some((each, at) => each === "" && wants[at] !== "");
  for (let tries = 1; tries < TRIES && isLetIn(); tries += 1) said = await ask();
  return said;
}

/** The program with 30 s in place of its 1 and 1.5 s: on a busy machine the first question of a process takes longer, and is let in. */
export function patient(program: string): string {
  const longer = program
    .replace(/(max-time |timeout[=:] ?)1(?:\.5)?\b/g, (_, before: string) => `${before}30`)
    .replace(/\b1500\b/g, "30000")
    .replace(/ofSeconds\(1\)/g, "ofSeconds(30)");
  assert.notEqual(longer, program, "it waits for an answer without end");
  return longer;
}

/** A row of `statuses` in clients/cases.json: the base URL that answers with the status, and what the person then reads. */
export interface Refusing {
  readonly status: number;
  readonly url: string;
  readonly message: string;
}

/** A service that refuses every question, by the status in its path. */
export async function startRefusingService(): Promise<
  { readonly rows: readonly Refusing[] } & Pick<Peer, "close">
> {
  const { url, close } = await httpPeer((request, response) => {
    const status = Number(request.url?.split("/")[1]);
    request.resume().once("end", () => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: "No.", decision: "reject", message: "Not so." }));
    });
  });
  const rows = CLIENT_CASES.statuses.flatMap(({ status: all, message = "" }) => {
    const numbers = all.filter((status) => status !== "none");
    // A guide lets in by default, so that two such statuses show what all do; the others it names one by one.
    const asked = message === "" ? [...numbers.slice(0, 1), ...numbers.slice(-1)] : numbers;
    return asked.map((status) => ({ status, url: `${url}/${String(status)}`, message }));
  });
  return { rows, close };
}

/** Mailboxes that signed up from an address today; a busy service may not have read its counts in time, and leaves them out. */
export const countOf = (url: string, key: string, ip: string): Promise<number> =>
  until(async () => {
    const body = JSON.stringify({ email: "other@good.example", count_by: { ip } });
    const headers = { "content-type": "application/json", "x-api-key": key };
    const reply = await fetch(`${url}/api/decide`, { method: "POST", body, headers });
    return ((await reply.json()) as { counts?: { ip?: { day: number } } }).counts?.ip?.day;
  });
