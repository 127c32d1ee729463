// Real faults under a running service: each is told within 15 s, by one sentence in six places, and gone 15 s after its repair.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { diagnose } from "../../src/main/doctor/diagnose.ts";
import { openSqlite } from "../../src/store/embedded/sqlite.ts";
import { Browser } from "../dashboard/dashboard-client.ts";
import { PASSWORD } from "../dashboard/dashboard-world.ts";
import { gatepost, type Home, type ServiceProcess, startService } from "../e2e/service-process.ts";
import { type OwnDisk, ownDisk } from "../process/own-disk.ts";
import { hasTool } from "../process/require-tool.ts";
import { endOf } from "../services/child.ts";
import { until } from "../time/until.ts";

const PAGE = 4_096;
const TOLD_WITHIN_MS = 60_000;

interface World {
  readonly home: Home;
  readonly disk: OwnDisk;
  readonly service: ServiceProcess;
  readonly browser: Browser;
  readonly key: string;
  readonly file: string;
}

let world: World | undefined;

before(async () => {
  const disk = ownDisk("size=96m");
  if (disk === undefined) return;
  const directory = disk.folder;
  const settings = {
    GATEPOST_DATA_DIR: directory,
    GATEPOST_DNS_SERVERS: "off",
    GATEPOST_LISTS_REFRESH: "off",
  };
  const home = { directory, settings, remove: () => undefined };
  const words = ["account", "create", "boss@example.com", "--admin", "--password-stdin", "--json"];
  const { out } = gatepost(home, words, PASSWORD);
  const { api_key: key } = JSON.parse(out) as { readonly api_key: string };
  const service = await startService(home);
  const browser = new Browser(service);
  await browser.signIn("boss@example.com", PASSWORD);
  world = { home, disk, service, browser, key, file: join(directory, "gatepost.db") };
});

after(async () => {
  await world?.service.stop("SIGKILL");
  world?.disk.end();
});

interface Said {
  readonly part: string;
  readonly says: string;
}

/** What the page of metrics, the dashboard (System, and the mark on each page), `/readyz`, the log and `doctor` say. */
async function places({ service, browser, home }: World, part: string) {
  const ready = JSON.parse((await service.get("/readyz")).body) as { readonly broken: Said[] };
  const system = JSON.parse((await browser.get("admin/health")).text) as {
    readonly broken: Said[];
  };
  const metrics = (await service.get("/metrics")).body;
  const lines = service.log().split("\n");
  const logged = lines.flatMap((line) =>
    line.includes("health.broken") ? [JSON.parse(line) as Said] : [],
  );
  const found = await diagnose({ ...home.settings, PORT: new URL(service.url).port });
  const info = /^gatepost_broken_info\{part="(\w+)",says="((?:[^"\\]|\\.)*)"\} 1$/gm;
  return {
    readyz: ready.broken.find((each) => each.part === part)?.says,
    system: system.broken.find((each) => each.part === part)?.says,
    metric: [...metrics.matchAll(info)].find(([, name]) => name === part)?.[2],
    log: logged.findLast((each) => each.part === part)?.says,
    doctor: found.filter(({ state }) => state !== "ok").map(({ says }) => says),
  };
}

async function isBroken({ service }: World, part: string): Promise<boolean> {
  return (await service.get("/metrics")).body.includes(`gatepost_broken{part="${part}"} 1`);
}

type Repair = () => void | Promise<void>;

const faults: readonly (readonly [
  what: string,
  part: string,
  says: RegExp,
  spoil: (world: World) => Promise<Repair>,
])[] = [
  [
    "a database that is deleted",
    "database",
    /was deleted or replaced under the service/,
    ({ file }) => {
      renameSync(file, `${file}.away`);
      return Promise.resolve(() => renameSync(`${file}.away`, file));
    },
  ],
  [
    "a database of which all pages but the first are zeros",
    "database",
    /is damaged/,
    async (here) => {
      const { file, service, key } = here;
      // Another connection brings the log into the file, and this service's pages in memory are old.
      const other = openSqlite(file);
      other.exec("pragma wal_checkpoint(truncate); update installation set value = value");
      other.exec("pragma wal_checkpoint(truncate)");
      other.close();
      const whole = readFileSync(file);
      const zeros = Buffer.alloc(whole.length - PAGE);
      writeFileSync(file, Buffer.concat([whole.subarray(0, PAGE), zeros]), { flag: "r+" });
      const decided = await service.post("/api/decide", "email=jo@mailinator.com", {
        "x-api-key": key,
      });
      assert.equal(decided.status, 200, decided.body);
      assert.match(decided.body, /"decision":"reject"/);
      return () => writeFileSync(file, whole, { flag: "r+" });
    },
  ],
  [
    "a database that another program holds",
    "database",
    /takes no writes/,
    ({ file }) => {
      const holder = openSqlite(file);
      holder.exec("begin exclusive");
      return Promise.resolve(() => holder.close());
    },
  ],
  [
    "a full disk",
    "disk",
    /is full/,
    ({ home }) => {
      const filler = join(home.directory, "filler");
      for (let octets = 96 * 1_048_576; octets > PAGE; octets = Math.floor(octets / 2)) {
        try {
          writeFileSync(filler, Buffer.alloc(octets), { flag: "a" });
        } catch {
          // It takes a smaller piece, or none.
        }
      }
      return Promise.resolve(() => rmSync(filler));
    },
  ],
  [
    "a disk that gives EIO to the connection of the list thread",
    "lists",
    /Lists wait: no worker runs\. Nothing is lost\./,
    async ({ service, key, file }) => {
      const { pid } = service.child;
      const inject = ["-e", "trace=openat", "-e", "inject=openat:error=EIO"];
      const words = ["-f", "-P", file, "-o", "/dev/null", ...inject, "-p", String(pid)];
      const tracer = spawn("strace", words, { stdio: ["ignore", "ignore", "pipe"] });
      let said = "";
      while (!said.includes("attached")) said += String((await once(tracer.stderr, "data"))[0]);
      const email = Array.from({ length: 300 }, (_, index) => `jo@n${String(index)}.example`);
      const body = new URLSearchParams({ bulk: "1", email: email.join("\n") }).toString();
      const list = await service.post("/api/email", body, { "x-api-key": key });
      assert.equal(list.status, 200, list.body);
      const { session } = JSON.parse(list.body) as { readonly session: string };
      return async () => {
        tracer.kill("SIGTERM");
        await endOf(tracer);
        const view = () => service.get(`/api/view/${session}`, { "x-api-key": key });
        await until(async () => !/"status":"p/.test((await view()).body), { everyMs: 200 });
        assert.equal((await view()).status, 200);
      };
    },
  ],
];

/** One cause is one line. */
const OF_DATABASE = /database|damaged|disk/i;

for (const [what, part, says, spoil] of faults) {
  test(`${what} is told in six places by one sentence, and gone with its repair`, async (t) => {
    if (world === undefined) return t.skip("needs the right to mount");
    if (part === "lists" && !hasTool("strace")) return t.skip("needs strace");
    const here = world;
    const logged = here.service.log().length;
    const repair = await spoil(here);
    const options = { what: `${part} is broken`, withinMs: TOLD_WITHIN_MS, everyMs: 200 };
    await until(() => isBroken(here, part), options);
    await until(() => here.service.log().slice(logged).includes("health.broken"), options);
    const { doctor, ...told } = await places(here, part);
    await repair();
    await until(async () => !(await isBroken(here, part)), { ...options, what: `${part} is well` });
    const sentences = new Set(Object.values(told));
    assert.equal(sentences.size, 1, JSON.stringify(told));
    const [sentence = ""] = sentences;
    assert.match(sentence, says);
    const ofPart = doctor.filter((says) => says === sentence || OF_DATABASE.test(says));
    assert.deepEqual(ofPart, [sentence], doctor.join("\n"));
    const { readyz, system, metric } = await places(here, part);
    assert.deepEqual([readyz, system, metric], [undefined, undefined, undefined]);
    assert.equal((await here.service.get("/readyz")).status, 200);
  });
}
