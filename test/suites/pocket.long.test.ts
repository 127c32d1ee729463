import assert from "node:assert/strict";
import { test } from "node:test";
import { loadLists } from "../../src/adapters/lists/load/load-lists.ts";
import { attachDatasets } from "../../src/adapters/lists/table/shared-datasets.ts";
import { namesOfTable } from "../../src/adapters/lists/table/name-table.ts";
import { noRules } from "../../src/adapters/lists/table/operator.ts";
import { DEFAULT_POLICY } from "../../src/core/policy/default-policy.ts";
import { factsOf } from "../../src/core/policy/facts.ts";
import { decide } from "../../src/core/policy/policy.ts";
import { FREE_REGISTRIES } from "../../src/core/tables/free-registries.ts";
import { validate } from "../../src/core/validate/validate.ts";
import { makePocket, POCKET_MAX_BYTES } from "../../src/service/evidence/pocket.ts";
import { readPocket } from "../lists/read-pocket.ts";

const silent = (): { readonly kind: "unknown"; readonly why: "timeout" } => ({
  kind: "unknown",
  why: "timeout",
});
const lookup = { mx: silent, addresses: silent, txt: silent, registration: silent };

/** Every name would take 15 s; all of them agreed on 2026-11-22. */
const EVERY = 8;

test("the pocket list of the bundled lists decides as the service does while DNS is silent", async () => {
  const { shared } = loadLists("no-such-folder");
  const datasets = attachDatasets(shared, noRules);
  const names = [shared.disposable, shared.families, shared.knownGood].flatMap((table) =>
    Array.from(namesOfTable(table), ([name]) => name),
  );
  names.push(...FREE_REGISTRIES);
  const pause = (): Promise<void> => Promise.resolve();
  const key = new Uint8Array(16).fill(3);
  const { body } = await makePocket({ datasets, names: () => names }, { key, pause });
  assert.ok(body.length <= POCKET_MAX_BYTES, String(body.length));
  const pocket = readPocket(body);
  assert.equal(pocket.head["left_out"], 0);
  const rejects = async (domain: string): Promise<boolean> => {
    const question = {
      text: `jo.miller@${domain}`,
      mode: "address",
      asked: { features: [], spamTrap: false },
      nowMs: 0,
      implicitMx: false,
    } as const;
    const premium = { lookup, within: () => lookup };
    const validation = await validate(question, { datasets, lookup, premium });
    const facts = factsOf(validation, { datasets, caller: new Map() });
    const { decision, reason } = decide(DEFAULT_POLICY, facts);
    return decision === "reject" && reason === "disposable";
  };
  let rejected = 0;
  for (const name of names.filter((_, at) => at % EVERY === 0)) {
    for (const domain of [name, `mail-7.${name}`]) {
      const expected = await rejects(domain);
      if (expected) rejected += 1;
      if (pocket.has(domain) !== expected) assert.equal(!expected, expected, domain);
    }
  }
  assert.ok(rejected > 200_000 / EVERY, String(rejected));
});
