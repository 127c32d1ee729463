import assert from "node:assert/strict";
import { test } from "node:test";
import { createOctetBox } from "../../../src/base/secrets.ts";
import type { NewBatch } from "../../../src/bulk/jobs/pack-batch.ts";
import { forgetInBatches } from "../../../src/bulk/jobs/forget-in-batches.ts";
import { forgetInLists } from "../../../src/bulk/lists/forget-in-lists.ts";
import {
  type AccountList,
  findList,
  keepList,
  LISTS,
  packFile,
  partOf,
} from "../../../src/bulk/lists/list-store.ts";
import { rowResults, spelledResults } from "../../../src/bulk/jobs/result-source.ts";
import { storedResults } from "../../../src/bulk/jobs/sessions.ts";
import { parseAddress } from "../../../src/core/address/address.ts";
import { splitText } from "../../../src/core/batch/batch-chunk.ts";
import { SoughtAddress } from "../../../src/core/batch/sought-address.ts";
import { unpackOctets } from "../../../src/store/pack.ts";
import { finish } from "../../bulk/finish.ts";
import type { Make } from "../contract.ts";
import {
  accept,
  allValid,
  type BulkStores,
  claim,
  newBatch,
  newJob,
  termsFor,
} from "./bulk-stores.ts";
import { at, type Rule } from "./chunk-queue.ts";

const parsed = parseAddress("jo@x.example");
assert.ok(parsed.ok);
const JO = new SoughtAddress(parsed.value);
const box = createOctetBox(new Uint8Array(32).fill(7), LISTS);

/** `count` domains with Jo as entry `jo`, and again, spelled otherwise, at the end. */
function withJo(count: number, jo: number): Pick<NewBatch, "total" | "unique" | "chunks"> {
  const texts = Array.from({ length: count }, (_, place) => `d${String(place)}.example`);
  texts[jo] = "jo@x.example";
  const split = finish(splitText([...texts, "JO@X.example", texts[1] ?? ""].join("\n")));
  assert.ok("chunks" in split);
  return split;
}

const jobWithJo = (stores: BulkStores, count: number, jo: number) =>
  newJob(stores, 0, withJo(count, jo));

/** The contract of an address that is taken out of batches and lists. */
export function forgetContract(name: string, make: Make<BulkStores>): void {
  const rule: Rule = (sentence, check) => {
    test(`${name}: ${sentence}`, async (t) => check(await make(t)));
  };
  const forget = (stores: BulkStores, isLook = false): Promise<number> =>
    forgetInBatches({ ...stores, db: stores.sql.db }, JO, isLook);
  const found = async (stores: BulkStores, session: string) => {
    const its = await stores.sessions.find(session, stores.clock.nowMs());
    assert.ok(its !== undefined);
    return its;
  };
  const read = async (stores: BulkStores, session: string): Promise<readonly string[]> => {
    const source = storedResults(stores.sessions, await found(stores, session));
    const all: string[] = [];
    for await (const page of spelledResults(source, { isNoted: true }))
      for (const { spelling } of page) all.push(spelling);
    return all;
  };

  rule(
    "a running job goes on without the address, and what was charged stays charged",
    async (stores) => {
      const session = await accept(stores, jobWithJo(stores, 1_200, 700));
      const first = await claim(stores);
      const second = await claim(stores);
      await stores.chunks.complete(first, allValid(500), at(stores));
      assert.equal(await forget(stores, true), 1);
      assert.equal(await forget(stores), 1);
      assert.equal(await forget(stores, true), 0);
      assert.equal(await stores.chunks.complete(second, allValid(500), at(stores)), "late");
      const again = await claim(stores);
      assert.deepEqual([again.number, again.entries], [1, 499]);
      assert.equal(JSON.stringify(again.content).includes("jo@"), false);
      await stores.chunks.complete(again, allValid(499), at(stores));
      const last = await claim(stores);
      assert.equal(await stores.chunks.complete(last, allValid(200), at(stores)), "finished");
      const { total, unique, processed, tally, charged } = await found(stores, session);
      assert.deepEqual([total, unique, processed, tally.valid], [1_200, 1_199, 1_199, 1_199]);
      assert.deepEqual([charged, await stores.unitsUsed()], [1_200, 1_200]);
      const spelled = await read(stores, session);
      assert.equal(spelled.length, 1_199);
      assert.equal(
        spelled.some((text) => /jo@/i.test(text)),
        false,
      );
    },
  );

  rule("a batch that is done loses the result, and its figures follow", async (stores) => {
    const batch = newBatch(stores, 0, withJo(600, 550));
    const outcomes = [500, 100].map((count) => ({
      ...allValid(count),
      results: Array<string>(count).fill('{"format":true,"dns":true,"disposable":false}'),
    }));
    await stores.jobs.create({ ...batch, outcomes }, termsFor(batch));
    assert.equal(await forget(stores), 1);
    const { total, unique, processed, tally } = await found(stores, batch.session);
    assert.deepEqual([total, unique, processed, tally.valid], [600, 599, 599, 599]);
    const checked = await stores.sessions.checked(batch.session, 1);
    assert.equal(checked?.length, 99);
    assert.equal((await read(stores, batch.session)).length, 599);
  });

  rule("a chunk with nothing else is done, and so is its job", async (stores) => {
    const session = await accept(stores, jobWithJo(stores, 501, 500));
    await stores.chunks.complete(await claim(stores), allValid(500), at(stores));
    const late = await claim(stores);
    assert.equal(await forget(stores), 1);
    assert.equal(await stores.chunks.complete(late, allValid(1), at(stores)), "late");
    const { state, processed, unique } = await found(stores, session);
    assert.deepEqual([state, processed, unique], ["completed", 500, 500]);
  });

  rule("a batch with nothing else goes", async (stores) => {
    const batch = newBatch(stores, 0, withJo(1, 0));
    const split = finish(splitText("jo@x.example"));
    assert.ok("chunks" in split);
    await stores.jobs.create({ ...batch, ...split, outcomes: [allValid(1)] }, termsFor(batch));
    assert.equal(await forget(stores), 1);
    assert.equal(await stores.sessions.find(batch.session, stores.clock.nowMs()), undefined);
  });

  rule("rows of a table go with their entry, and other cells lose the address", async (stores) => {
    const cells = [
      ["Jo", "jo@x.example"],
      ["asked by jo@x.example", "d1.example"],
      { cells: ["Jo, again", "JO@X.example"], count: 1 },
      ["El", "d2.example"],
    ];
    const page = {
      cells: Buffer.from(JSON.stringify(cells)),
      entries: Int32Array.from([0, 1, 0, 2]),
    };
    const table = { header: ["name", "email"], delimiter: ",", pages: [page] };
    const batch = newBatch(stores, 0, { ...withJo(3, 0), table });
    await stores.jobs.create({ ...batch, outcomes: [allValid(3)] }, termsFor(batch));
    assert.equal(await forget(stores), 2);
    const source = storedResults(stores.sessions, await found(stores, batch.session));
    const rows: unknown[] = [];
    const pageOf = (number: number) => stores.sessions.page(batch.session, number);
    for await (const some of rowResults(source, 1, pageOf))
      rows.push(...some.map((row) => row.cells));
    assert.deepEqual(rows, [
      ["asked by ", "d1.example"],
      ["El", "d2.example"],
    ]);
  });

  rule("what is killed in the middle of a session changed nothing of it", async (stores) => {
    const session = await accept(stores, jobWithJo(stores, 1_200, 700));
    const before = await found(stores, session);
    const nowMs = (): number => {
      throw new Error("killed");
    };
    const killed = { ...stores, db: stores.sql.db, clock: { nowMs } };
    await assert.rejects(forgetInBatches(killed, JO, false), /killed/);
    assert.deepEqual(await found(stores, session), before);
    assert.equal(await forget(stores), 1);
    assert.equal((await found(stores, session)).unique, 1_199);
  });

  rule("a list keeps its other rows, and is changed by one at a time", async (stores) => {
    const store = { db: stores.sql.db, box };
    const list: AccountList = {
      id: stores.ids.hex32(),
      accountId: "a1",
      name: "list.csv",
      rows: 3,
      choice: { column: "email" },
      fixes: new Set(["jo@x.example", "an@gmial.com"]),
      runs: [],
      version: 4,
      createdAtMs: stores.clock.nowMs(),
      expiresAtMs: stores.clock.nowMs() + 1_000,
    };
    const file = "name,email\nJo,jo@x.example\nAn,an@gmial.com\nEl,d2.example\n";
    const only = { ...list, id: stores.ids.hex32(), name: "only.csv", rows: 1 };
    await keepList(store, list, await packFile([Buffer.from(file)]));
    await keepList(store, only, await packFile([Buffer.from("email\njo@x.example\n")]));
    const deps = { ...stores, ...store };
    assert.equal(await forgetInLists(deps, JO, true), 2);
    assert.equal(await forgetInLists(deps, JO, false), 2);
    assert.equal(await forgetInLists(deps, JO, true), 0);
    const left = await findList(store, "a1", list.id);
    assert.deepEqual([left?.rows, left?.version], [2, 5]);
    assert.deepEqual(left?.fixes, new Set(["an@gmial.com"]));
    const part = await partOf(store, list, 0);
    assert.ok(part !== undefined);
    assert.equal(
      (await unpackOctets(part)).toString(),
      "name,email\nAn,an@gmial.com\nEl,d2.example\n",
    );
    assert.equal(await findList(store, "a1", only.id), undefined);
  });
}
