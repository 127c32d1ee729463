import { strict as assert } from "node:assert";
import { test } from "node:test";
import { literalDatasets } from "../../test/lists/literal-datasets.ts";
import { type ManualClock, manualClock } from "../../test/time/manual-clock.ts";
import { admittedAs, openAdmission } from "../../test/http/open-admission.ts";
import { zoneLookup } from "../../test/dns/zone-lookup.ts";
import { memoryAnswers } from "../../test/http/memory-answers.ts";
import type { Lookup } from "../core/mail/lookup.ts";
import { type CheckOne, createCheckOne } from "./check-one.ts";
import { createSingleCheck } from "./single-check.ts";
import type { RequestedFeature } from "./features.ts";
import { DEFAULT_TIERS, type TierName } from "../accounts/admission/tiers.ts";

interface World {
  readonly checkOne: CheckOne;
  readonly clock: ManualClock;
  readonly admission: ReturnType<typeof openAdmission>;
  readonly questions: () => number;
  readonly learn: () => void;
}

function world(over: Partial<Lookup> = {}): World {
  const clock = manualClock();
  const admission = openAdmission();
  const datasets = literalDatasets({});
  let questions = 0;
  let version = 1;
  const lookup: Lookup = {
    ...zoneLookup({}),
    mx: () => {
      questions += 1;
      return { kind: "absent", why: "noName", expiresAtMs: clock.nowMs() + 60_000 };
    },
    ...over,
  };
  const check = createSingleCheck({ lookup, clock, implicitMx: false, datasets: () => datasets });
  const cache = memoryAnswers();
  const deps = { admission, check, cache, clock, tiers: DEFAULT_TIERS };
  return {
    checkOne: createCheckOne({
      ...deps,
      publicUrl: () => "http://gatepost.example",
      datasetsVersion: () => version,
    }),
    clock,
    admission,
    questions: () => questions,
    learn: () => void (version += 1),
  };
}

const asks = (
  { checkOne }: World,
  tier: TierName,
  features: readonly RequestedFeature[] = [],
  text = "a@d.example",
): Promise<Record<string, unknown>> =>
  Promise.resolve(checkOne(admittedAs(tier), { text, mode: "address", features })).then(
    ({ body }) => JSON.parse(body) as Record<string, unknown>,
  );

test("an answer is kept as long as DNS allows, and charged each time", async () => {
  const here = world();
  await asks(here, "free");
  here.clock.advance(59_999);
  await asks(here, "free");
  assert.equal(here.questions(), 1);
  here.clock.advance(1);
  await asks(here, "free");
  assert.equal(here.questions(), 2);
  assert.equal(here.admission.charged(), 3);
});

test("what is learned of domains makes kept answers stale", async () => {
  const here = world();
  await asks(here, "free");
  here.learn();
  await asks(here, "free");
  assert.equal(here.questions(), 2);
});

test("plans do not share answers where they differ", async () => {
  const here = world();
  assert.equal("spam_trap" in (await asks(here, "pro")), true);
  assert.equal("spam_trap" in (await asks(here, "starter")), false);
});

test("an inconclusive answer is not kept past its time", async () => {
  const here = world({ mx: () => ({ kind: "unknown", why: "timeout" }) });
  const first = await asks(here, "free");
  assert.deepEqual(first["signals"], ["dns_indeterminate"]);
  assert.equal(here.admission.charged(), 1);
});

test("features of a higher plan are named with the way to it, in a successful answer", async () => {
  const answer = await asks(world(), "free", ["dmarc", "smtp", "spf"]);
  assert.equal(answer["format"], true);
  assert.deepEqual(answer["requires_upgrade"], ["dmarc", "spf"]);
  assert.equal(answer["upgrade_url"], "http://gatepost.example/pricing");
  assert.deepEqual(answer["unsupported_features"], ["smtp"]);
  assert.equal("error" in answer, false);
});

test("a fault gives the unit back", async () => {
  const here = world({
    mx: () => {
      throw new Error("a bug");
    },
  });
  await assert.rejects(asks(here, "free"), /a bug/);
  assert.equal(here.admission.charged(), 0);
});

test("a kept answer serves the same features in any order, and names what is missing in the order asked", async () => {
  const here = world({ txt: () => ({ kind: "unknown", why: "timeout", expiresAtMs: 5e15 }) });
  const first = await asks(here, "pro", ["dmarc", "smtp", "spf", "deliverability"]);
  const second = await asks(here, "pro", ["spf", "deliverability", "dmarc", "smtp"]);
  assert.equal(here.questions(), 1);
  assert.deepEqual(first["temporarily_unavailable_features"], ["dmarc", "spf"]);
  assert.deepEqual(second["temporarily_unavailable_features"], ["spf", "dmarc"]);
  assert.deepEqual(second["unsupported_features"], ["smtp"]);
  assert.deepEqual(second["spam_trap"], first["spam_trap"]);
  const plain = await asks(here, "free", ["spf", "dmarc"]);
  const turned = await asks(here, "free", ["dmarc", "spf"]);
  assert.equal(here.questions(), 2);
  assert.deepEqual(plain["requires_upgrade"], ["spf", "dmarc"]);
  assert.deepEqual(turned["requires_upgrade"], ["dmarc", "spf"]);
});
