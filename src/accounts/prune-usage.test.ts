import assert from "node:assert/strict";
import { test } from "node:test";
import { openStores } from "../../test/contracts/stores.ts";
import { dayOf } from "../core/calendar.ts";
import { pruneUsage } from "./prune-usage.ts";
import { DEFAULT_TIERS } from "./admission/tiers.ts";

const ACCOUNT = "account:a1";
const BUCKET = "bucket:192.0.2.1";

for (const [name, monthly, bucketDays] of [
  ["addresses are forgotten when their day can count no more", null, [0, 1]],
  ["addresses are kept for the month where the operator limits it", 5_000, [0, 1, 2, 20]],
] as const) {
  test(name, async (t) => {
    const { usage, charges, clock } = await openStores(t);
    const today = dayOf(clock.nowMs()); // the 20th, so the month began 19 days ago
    const ages = [0, 1, 2, 20, 21, 400, 401];
    await usage.add(
      ages.flatMap((age) =>
        [ACCOUNT, BUCKET].map((owner) => ({ owner, day: today - age, units: 1 })),
      ),
    );
    const anonymous = { ...DEFAULT_TIERS.anonymous, monthly };
    const tiers = { ...DEFAULT_TIERS, anonymous };
    const { usageDays } = await pruneUsage({ usage, charges, tiers }, clock.nowMs());
    const kept = async (owner: string) =>
      (await usage.days(owner, 0, today)).map(({ day }) => today - day).reverse();
    assert.deepEqual(await kept(ACCOUNT), [0, 1, 2, 20, 21, 400]);
    assert.deepEqual(await kept(BUCKET), bucketDays);
    assert.equal(usageDays, ages.length * 2 - 6 - bucketDays.length);
  });
}

test("charges are forgotten after 7 days", async (t) => {
  const { usage, charges, clock } = await openStores(t);
  const prune = (nowMs: number) => pruneUsage({ usage, charges, tiers: DEFAULT_TIERS }, nowMs);
  const owner = { kind: "bucket", bucket: "192.0.2.1" } as const;
  const limits = { daily: null, monthly: null };
  await charges.charge({ owner, units: 1, limits, purses: "plan", nowMs: clock.nowMs() });
  clock.advance(7 * 86_400_000);
  assert.equal((await prune(clock.nowMs())).charges, 0);
  assert.equal((await prune(clock.nowMs() + 1)).charges, 1);
});
