import { strict as assert } from "node:assert";
import { test, type TestContext } from "node:test";
import { ask } from "../../../test/policy/asked-decision.ts";
import { GATE_KEY, gateWorld } from "../../../test/policy/gate-world.ts";
import { systemClock } from "../../base/clock.ts";
import { Refusal } from "../../base/refusals.ts";
import type { Note } from "../../accounts/audit.ts";
import { createAccountHash } from "../../gate/traffic-marks.ts";
import type { DecisionGroups } from "../../gate/gate-shapes.ts";
import { decisionRoutes } from "./decisions.ts";
import type { AccountReply, DashboardServices, SignedInRequest } from "./route.ts";

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
    const route = decisionRoutes.find((one) => one.method === method && one.path === path);
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
  const find = async (text: string) =>
    (await call("POST decisions/find", { body: { text } })) as { by: string; value: string };
  const { value: mailbox } = await find(" Jo+x@Good.example ");
  const found = { mailbox };
  const page = (await call("GET decisions", { query: found })) as {
    readonly log: string;
    readonly decisions: readonly { readonly mailbox: object }[];
  };
  assert.deepEqual(
    [page.log, page.decisions.map(({ mailbox }) => mailbox)],
    ["on", [{ id: mailbox }]],
  );
  const marks = async (): Promise<unknown> =>
    ((await call("GET decisions", { query: found })) as { marks: unknown }).marks;
  for (const outcome of ["abuse", "fine"]) {
    await call("POST feedback", { body: { mailbox, outcome } });
    assert.deepEqual(await marks(), [{ mailbox, outcome }]);
  }
  for (const left of [[{ mailbox, outcome: "abuse" }], []]) {
    await call("DELETE feedback/:id", { id: mailbox });
    assert.deepEqual(await marks(), left);
  }
  await assert.rejects(call("DELETE feedback/:id", { id: mailbox }), refused(404));
  assert.deepEqual(await find("www.good.example"), { by: "domain", value: "good.example" });
  await assert.rejects(find("nobody knows"), refused(409));
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

const at = (index: number): string => String(index).padStart(2, "0");

test("a value is found by what its application knows, a group reported and taken back, and rows are CSV", async (t) => {
  const { world, made, call, often } = await openRoutes(t);
  await world.store.switches.switchLog(made.id, "on");
  for (let index = 0; index < 3; index += 1) {
    const count_by = { ip: "203.0.113.7", inviter: "=u_12" };
    await ask(
      world,
      { email: `p${at(index)}@farm.example`, count_by },
      { "x-api-key": made.apiKey },
    );
  }
  await ask(world, { email: "ann@good.example" }, { "x-api-key": made.apiKey });
  await world.flush();
  for (const [text, name] of [
    ["203.0.113.7", "ip"],
    ["=u_12", "inviter"],
  ] as const) {
    const found = (await call("POST decisions/find", { body: { text } })) as {
      by: string;
      value: string;
    };
    assert.deepEqual([found.by, found.value.split(":")[0]], ["source", name]);
    const { decisions } = (await call("GET decisions", { query: { source: found.value } })) as {
      decisions: unknown[];
    };
    assert.equal(decisions.length, 3);
  }
  const domain = async () => ((await call("GET decisions/groups")) as DecisionGroups).domains[0];
  const said = async () => (await domain())?.feedback;
  assert.deepEqual((await domain())?.mailboxes, 3);
  const body = { by: "domain", value: "farm.example", outcome: "abuse" };
  const { mailboxes, ...ids } = (await call("POST decisions/report", { body })) as {
    mailboxes: number;
  };
  assert.equal(mailboxes, 3);
  assert.deepEqual(await said(), { abuse: 3, bounce: 0, complaint: 0, fine: 0 });
  const csv = async (query: Record<string, string>): Promise<string> => {
    const { text } = ((await call("GET decisions/csv", { query })) as AccountReply).parts;
    let all = "";
    for await (const chunk of text?.chunks ?? []) all += String(chunk);
    return all;
  };
  const lines = (await csv({ domain: "farm.example" })).trim().split("\r\n");
  assert.equal(lines.length, 4);
  assert.match(lines[0] ?? "", /^time,decision,reason,domain,mailbox,/);
  assert.match(lines[1] ?? "", /,farm\.example,m_.*,abuse$/);
  await call("POST decisions/take-back", { body: ids });
  assert.deepEqual(await said(), { abuse: 0, bounce: 0, complaint: 0, fine: 0 });
  await assert.rejects(
    call("POST decisions/report", { body: { ...body, by: "form" } }),
    refused(400),
  );
  assert.deepEqual(often, ["feedback.given abuse, all of one domain"]);
});
