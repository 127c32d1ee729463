import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { ask } from "../../../test/policy/asked-decision.ts";
import { GATE_KEY, gateWorld } from "../../../test/policy/gate-world.ts";
import { systemClock } from "../../base/clock.ts";
import { Refusal } from "../../base/refusals.ts";
import type { Note } from "../../accounts/audit.ts";
import { createAccountHash } from "../../gate/traffic-marks.ts";
import { feedbackRoutes } from "./gate.ts";
import type { DashboardServices, SignedInRequest } from "./route.ts";

const OFTEN = new Set(["feedback.given", "decisions.read"]);

async function openRoutes(t: TestContext) {
  const world = await gateWorld(t);
  const made = await world.account("jo@shop.example");
  const often: string[] = [];
  const entered = { count: 0 };
  const { feedback, decisionLog, policies } = world;
  const services = {
    gate: { feedback, decisionLog, policies, hash: createAccountHash(GATE_KEY) },
    clock: systemClock,
    requests: { record: () => undefined },
    admission: {
      enter: () => assert.fail(),
      charge: () => assert.fail(),
      enterAs: ({ id: accountId }: { readonly id: string }) => {
        entered.count += 1;
        const caller = { owner: { kind: "account", accountId }, tier: "free" } as const;
        return { caller: { ...caller, clientAddress: "" }, hasCredits: false };
      },
    },
  } as unknown as DashboardServices;
  const note: Note = ({ action, detail = "" }) =>
    Promise.resolve(void (OFTEN.has(action) && often.push(`${action} ${detail}`)));
  const call = async (name: string, more: Partial<SignedInRequest> = {}): Promise<unknown> => {
    const [method, path] = name.split(" ");
    const route = feedbackRoutes.find((one) => one.method === method && one.path === path);
    const account = (await world.store.accounts.find(made.id)) ?? assert.fail();
    const visitor = { clientAddress: "192.0.2.1" };
    const session = { id: "a browser" };
    const request = { account, session, visitor, note, body: {}, query: {}, id: "", ...more };
    return await route?.handle(services, request as unknown as SignedInRequest);
  };
  const abuse = async (domain: string): Promise<void> => {
    for (const name of ["a", "b", "c"]) {
      await call("POST feedback", { body: { email: `${name}@${domain}`, outcome: "abuse" } });
    }
  };
  return { world, made, call, abuse, often, entered };
}

const refused = (status: number) => (error: unknown) =>
  error instanceof Refusal && error.status === status;

test("the page lists decisions, and finds a mailbox by its address", async (t) => {
  const { world, made, call } = await openRoutes(t);
  assert.deepEqual(await call("GET decisions"), {
    log: "off",
    decisions: [],
    next: null,
    marks: [],
  });
  await world.store.switches.switchLog(made.id, "on");
  for (const email of ["jo@good.example", "ann@good.example"]) {
    await ask(world, { email }, { "x-api-key": made.apiKey });
  }
  await world.flush();
  const found = (await call("POST decisions/find", { body: { email: " Jo+x@Good.example " } })) as {
    readonly mailbox: string;
  };
  const page = (await call("GET decisions", { query: found })) as {
    readonly log: string;
    readonly decisions: readonly { readonly mailbox: object }[];
  };
  assert.deepEqual(
    [page.log, page.decisions.map(({ mailbox }) => mailbox)],
    ["on", [{ id: found.mailbox }]],
  );
  const marks = async (): Promise<unknown> =>
    ((await call("GET decisions", { query: found })) as { marks: unknown }).marks;
  const { mailbox } = found;
  for (const outcome of ["abuse", "fine"]) {
    await call("POST feedback", { body: { mailbox, outcome } });
    assert.deepEqual(await marks(), [{ mailbox, outcome }]);
  }
  for (const left of [[{ mailbox, outcome: "abuse" }], []]) {
    await call("DELETE feedback/:id", { id: mailbox });
    assert.deepEqual(await marks(), left);
  }
  await assert.rejects(call("DELETE feedback/:id", { id: mailbox }), refused(404));
  await assert.rejects(
    call("POST decisions/find", { body: { email: "good.example" } }),
    refused(400),
  );
  await assert.rejects(call("GET decisions", { query: { decision: "x" } }), refused(400));
  await assert.rejects(call("POST feedback", { body: { outcome: "abuse" } }), refused(400));
});

test("feedback of the page is counted in the rate and, as reading the log, in the activity", async (t) => {
  const { call, abuse, often, entered } = await openRoutes(t);
  await abuse("farm.example");
  assert.deepEqual([entered.count, often], [3, Array(3).fill("feedback.given abuse")]);
  for (let times = 0; times < 3; times += 1) {
    await call("GET decisions", {
      session: { id: "another browser" } as SignedInRequest["session"],
    });
  }
  assert.deepEqual(often.slice(3), ["decisions.read "]);
});
