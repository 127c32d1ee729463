import { createShares, type Shares } from "../../../src/base/shares.ts";
import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { shareDatasets } from "../../../src/lists/shared-datasets.ts";
import { DomainMails } from "../../../src/lists/domain-mails.ts";
import { systemIds } from "../../../src/base/ids.ts";
import { Closing, type Machine, systemMachine } from "../../../src/main/process.ts";
import { openBulk } from "../../../src/main/bulk.ts";
import { Jobs } from "../../../src/bulk/jobs/jobs.ts";
import type { CompletedEvent } from "../../../src/bulk/jobs/announce.ts";
import { createAdmission } from "../../../src/accounts/admission/admission.ts";
import { DEFAULT_TIERS } from "../../../src/accounts/admission/tiers.ts";
import {
  domains,
  admittedAs,
  listOf,
  noDatasets,
  sessionOf,
  STARTER,
  keptIn,
} from "../../bulk/bulk-world.ts";
import { addAccount, openStores, type Stores } from "../../contracts/stores.ts";
import { type DnsServer, startDnsServer } from "../../dns/dns-server.ts";
import { zoneLookup } from "../../dns/zone-lookup.ts";
import { until } from "../../time/until.ts";
import { temporaryFolder } from "../../process/temporary-folder.ts";
import { memoryRateCounter } from "../../../src/accounts/admission/counters.ts";

type OpenBulk = Awaited<ReturnType<typeof openBulk>>;

const NAMES = 3_000;

interface World {
  readonly stores: Stores;
  readonly events: CompletedEvent[];
  readonly shares: Shares;
  readonly open: (machine?: Machine) => Promise<OpenBulk>;
  readonly closing: Closing;
}

const CONFIG = {
  dnsCanaries: undefined,
  implicitMx: false,
  listHours: 24,
  syncBudgetMs: 10_000,
} as const;

async function openWorld(t: TestContext, server: Pick<DnsServer, "host" | "port">): Promise<World> {
  const dataDir = temporaryFolder();
  const stores = await openStores(t, dataDir);
  await addAccount(stores);
  const { sql, charges, counter, clock, log } = stores;
  const tiers = DEFAULT_TIERS;
  const keys = { holder: () => Promise.resolve(undefined) };
  const rates = memoryRateCounter();
  const events: CompletedEvent[] = [];
  const { host, port } = server;
  const config = { ...CONFIG, dataDir, dnsServers: [{ host, port }] };
  const closing = new Closing();
  const shares = createShares();
  const texts = systemMachine.openTexts(shares);
  closing.add(() => texts.close());
  const process = { config, clock, ids: systemIds, log, closing };
  const open = (machine: Machine = systemMachine): Promise<OpenBulk> =>
    openBulk(
      { ...process, machine },
      {
        sql,
        jobs: new Jobs({ db: sql.db, charges, ids: systemIds }),
        admission: createAdmission({ keys, rates, quotas: counter, charges, clock, tiers }),
        tiers,
        checker: { datasets: () => noDatasets, lookup: zoneLookup({}) },
        datasets: LISTS,
        recorder: { record: () => undefined },
        secretKey: new Uint8Array(32),
        shares,
        split: texts.split,
        lists: texts.lists,
        announcement: keptIn(events),
        where: "alone",
      },
    );
  return { stores, events, shares, open, closing };
}

const LISTS = shareDatasets({
  version: 1,
  disposable: [{ id: "own", kind: "curated", read: () => ["d0.example", "d2999.example"] }],
  exceptions: new Set(),
  free: [],
  knownGood: [],
  roles: [],
  mailServers: [],
});

test("the thread runs a job against a real name server, with the shared lists", async (t) => {
  const mail = { mx: ["10 mx.provider.example"] };
  const names = domains(NAMES).split("\n");
  const server = await startDnsServer({
    ...Object.fromEntries(names.slice(0, 2_000).map((name) => [name, mail])),
    "mx.provider.example": { a: ["203.0.113.5"] },
  });
  t.after(() => server.close());
  const { stores, events, shares, open, closing } = await openWorld(t, server);
  const { sql, log } = stores;
  const { service } = await open();
  const session = sessionOf(await service.submit(admittedAs(STARTER), listOf(domains(NAMES))));
  const [event] = await Promise.all([
    until(() => events[0]),
    // A thread tells the most that an owner held in the last second alone.
    until(() => (shares.figures().get("storing")?.largest ?? 0) > 0, {
      what: "the thread's shares as those of the process",
    }),
  ]);
  assert.deepEqual(event.stats, {
    total: NAMES,
    unique: NAMES,
    invalid_format: 0,
    invalid_dns: 999,
    disposable: 2,
    valid: 1_999,
    session,
  });
  await closing.close();
  const [first, ...others] = await new DomainMails(sql.db).page("", NAMES);
  assert.equal(others.length, 1_999, "with its mail hosts, if any");
  const { domain, hosts, addresses, disposable } = first ?? {};
  assert.deepEqual(
    { domain, hosts, addresses, disposable },
    {
      domain: "d0.example",
      hosts: ["mx.provider.example"],
      addresses: ["203.0.113.5"],
      disposable: true,
    },
  );
  assert.deepEqual(log.lines, ["info duty.started", "info duty.ended"]);
  assert.equal(events.length, 1);
});

test("only stored jobs, old or new, wake the runner", async (t) => {
  const { open, closing } = await openWorld(t, { host: "127.0.0.1", port: 9 });
  let woken = 0;
  const start = (): Promise<OpenBulk> =>
    open({
      ...systemMachine,
      startBulkThread: () => ({
        wake: () => void (woken += 1),
        use: () => undefined,
        figures: () => undefined,
        isDown: () => false,
        stop: () => Promise.resolve(),
      }),
    });
  const first = await start();
  await assert.rejects(first.service.submit(admittedAs(STARTER), listOf("")));
  assert.equal(woken, 0, "a refused batch wakes nothing");
  await first.service.submit(admittedAs(STARTER), listOf("a.example"));
  assert.equal(woken, 1, "a session will end");
  await closing.close();
  await start();
  await until(() => (woken === 2 ? true : undefined));
  await closing.close();
});
