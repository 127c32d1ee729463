import { HOOK_OUTCOMES, type HookOutcome } from "../../core/policy/outcomes.ts";
import assert from "node:assert/strict";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { SILENT } from "../../../test/policy/gate-world.ts";
import { hookWorld } from "../../../test/policy/hook-world.ts";
import { until } from "../../../test/time/until.ts";

interface Sent {
  readonly port: number;
  readonly id: string;
  readonly body: string;
  readonly headers: Record<string, string>;
  /** Leaves as soon as the request is sent. */
  readonly leaves: boolean;
}

const OUTCOME_OF: Readonly<Record<number, HookOutcome>> = {
  204: "accepted",
  400: "refused",
  401: "unauthenticated",
};

/** What the client saw; "late" when it left. */
const call = ({ port, id, body, headers, leaves }: Sent): Promise<HookOutcome> =>
  new Promise((resolve, reject) => {
    const sent = request({ port, method: "POST", path: `/hooks/${id}`, headers }, (answer) => {
      answer.resume().once("end", () => {
        resolve(OUTCOME_OF[answer.statusCode ?? 0] ?? "failed_open");
      });
    });
    sent.once("error", (error) => (leaves ? resolve("late") : reject(error)));
    sent.end(body, () => {
      if (leaves) setTimeout(() => sent.destroy(), 50);
    });
  });

test("the counts of a hook are what its callers saw, also of those that left before the answer", async (t) => {
  const world = await hookWorld(t, { lookup: SILENT });
  const hook = await world.hook("kratos");
  const server = createServer(world.app.serve).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await until(() => server.listening);
  const { port } = server.address() as AddressInfo;
  const kinds = [
    ["jo@bad.example", true, false],
    ["jo@good.example", true, false],
    ["jo@good.example", true, true],
    ["jo@good.example", false, false],
  ] as const;
  const calls = Array.from({ length: 40 }, (_, at) => {
    const [email, isSigned, leaves] = kinds[at % kinds.length] ?? assert.fail();
    const body = JSON.stringify({ email: email.replace("@", `@n${String(at)}.`) });
    const type = { "content-type": "application/json" };
    const headers = { ...type, ...(isSigned ? world.signed(hook, body) : {}) };
    return call({ port, id: hook.id, body, headers, leaves });
  });
  const seen = await Promise.all(calls);
  const counts = HOOK_OUTCOMES.map(
    (outcome) => [outcome, seen.filter((one) => one === outcome).length] as const,
  );
  const listed = async () => (await world.list(world.accountId))[0];
  await until(
    async () => Object.values((await listed())?.calls ?? {}).reduce((a, b) => a + b) === 40,
  );
  const row = await listed();
  assert.deepEqual(row?.calls, Object.fromEntries(counts));
  assert.equal(row.calls.late, 10);
  assert.match(row.last_failure?.why ?? "", /^The caller left before the answer: accept: unknown/);
});
