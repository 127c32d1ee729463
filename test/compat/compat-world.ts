import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { createCheckOne } from "../../src/check/check-one.ts";
import { createSingleCheck } from "../../src/check/single-check.ts";
import { KeptResults } from "../../src/check/kept-answers.ts";
import type { UsageLedger } from "../../src/accounts/admission/usage.ts";
import type { AppDeps } from "../../src/http/app.ts";
import { compatRoutes } from "../../src/http/compat/services.ts";
import type { CompatHosts } from "../../src/http/hosts.ts";
import type { Admission, Admitted } from "../../src/accounts/admission/admission.ts";
import { DEFAULT_TIERS } from "../../src/accounts/admission/tiers.ts";
import { createUnitsLeft } from "../../src/accounts/allowance.ts";
import { type Zone, zoneLookup } from "../dns/zone-lookup.ts";
import { appDeps, appWith } from "../http/http-app.ts";
import { literalDatasets } from "../lists/literal-datasets.ts";
import { gateWorld, type GateWorld } from "../policy/gate-world.ts";
import { manualClock } from "../time/manual-clock.ts";
import { inject, type InjectOptions } from "../http/inject.ts";

/** One name for each thing that can be said of a domain. */
const COMPAT_ZONE: Zone = {
  "good.example": { mx: ["10 mx.good.example"], registered: "2026-10-20" },
  "mail.good.example": { mx: ["10 mx.good.example"] },
  "mx.good.example": { a: ["198.51.100.1"] },
  "bad.example": { mx: ["10 mx.good.example"] },
  "gmail.com": { mx: ["5 gmail-smtp-in.l.google.com"] },
  "gmail-smtp-in.l.google.com": { a: ["198.51.100.2"] },
  "null.example": { mx: ["0 ."] },
  "silent.example": { unknown: true },
};

const COMPAT_KNOWN = {
  curated: ["bad.example"],
  free: ["gmail.com"],
  roles: ["info"],
  traps: { "trap@good.example": "pristine" },
} as const;

/** 2026-11-22 08:00 UTC */
const NOW_MS = 1_795_334_400_000;

interface CompatWorld extends Pick<GateWorld, "store" | "admission"> {
  readonly account: (
    ...order: Parameters<GateWorld["account"]>
  ) => ReturnType<GateWorld["account"]>;
  readonly ask: (request: InjectOptions) => Promise<Told>;
  /** How many requests were refused, as the accounts' charts count them. */
  readonly refusals: () => number;
}

/** An answer; JSON is parsed. */
export interface Told {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

interface CompatOptions {
  readonly isOptimistic?: boolean;
  readonly hosts?: CompatHosts;
}

/** Every shape on the real admission, DNS from a literal and a clock that stands still. */
export async function compatWorld(
  t: TestContext,
  { isOptimistic = false, hosts = new Map() }: CompatOptions = {},
): Promise<CompatWorld> {
  const { admission, store, ...world } = await gateWorld(t);
  let units = 0;
  const charge: Admission["charge"] = admission.charge.bind(admission);
  Object.defineProperty(admission, "charge", {
    value: (admitted: Admitted, count: number) => {
      units += count;
      return charge(admitted, count);
    },
  });
  const clock = manualClock(NOW_MS);
  const datasets = literalDatasets(COMPAT_KNOWN);
  const lookup = zoneLookup(COMPAT_ZONE);
  const tiers = DEFAULT_TIERS;
  const checkOne = createCheckOne({
    admission,
    check: createSingleCheck({ lookup, datasets: () => datasets, clock, implicitMx: false }),
    cache: new KeptResults(1_000_000),
    clock,
    tiers,
    publicUrl: () => "https://gatepost.example",
    datasetsVersion: () => 1,
  });
  const usage: Pick<UsageLedger, "unitsUsed"> = {
    unitsUsed: () => Promise.resolve({ inDay: units, inMonth: units }),
  };
  const unitsLeft = createUnitsLeft({ usage, accounts: store.accounts, clock, tiers });
  const settings = { ...appDeps().settings, compatHosts: hosts };
  const routes = compatRoutes({ checkOne, unitsLeft, admission, clock, isOptimistic });
  let refusals = 0;
  const recorder: AppDeps["usage"] = {
    record: (_, { refusal }) => void (refusals += refusal === undefined ? 0 : 1),
  };
  const app = appWith({ usage: recorder, admission, clock, routes, settings });
  return {
    account: (...order) => world.account(...order),
    store,
    admission,
    refusals: () => refusals,
    async ask(request) {
      const { statusCode: status, headers, body } = await inject(app, request);
      const isJson = String(headers["content-type"]).startsWith("application/json");
      return { status, headers, body: isJson ? (JSON.parse(body) as unknown) : body };
    },
  };
}

/** Stands in a request for the key of a Pro account. */
const KEY = "KEY";

interface Case {
  readonly name: string;
  readonly ask: InjectOptions & { readonly url: string };
  readonly status: number;
  readonly body: unknown;
}

const TYPES: Readonly<Record<string, string>> = {
  form: "application/x-www-form-urlencoded",
  json: "application/json",
};

/** "POST v1/check form email=jo": a method, a path, a media type or "<name: value>" headers, and a body. */
function readRequest(text: string): Case["ask"] {
  const [, method = "", url = "", rest = ""] = /^(\w+) (\S+) ?(.*)$/s.exec(text) ?? [];
  const [, fields = "", type, payload = ""] =
    /^((?:<[^>]+> ?)*)(?:(form|json)(?: |$))?(.*)$/s.exec(rest) ?? [];
  const headers: Record<string, string> = {};
  for (const [, name = "", value = ""] of fields.matchAll(/<([\w-]+): ([^>]+)>/g)) {
    headers[name] = value;
  }
  if (type !== undefined) headers["content-type"] = TYPES[type] ?? "";
  const isGet = method === "GET" && payload === "";
  return { url, method: method as "GET" | "POST", headers, ...(!isGet && { payload }) };
}

/**
 * Cases as text: a name, then, indented by two, the request and the status with the members that the answer must have. What
 * is indented by four goes on with the line above.
 */
function readCases(text: string): readonly Case[] {
  if (text === "") return [];
  const parts = text
    .slice(1, -1)
    .replaceAll("\n    ", "")
    .split(/\n(?! )/);
  return parts.map((part) => {
    const [name = "", request = "", answer = ""] = part.split("\n  ");
    const [, status = "", body = ""] = /^(\d+) (.*)$/.exec(answer) ?? [];
    return { name, ask: readRequest(request), status: Number(status), body: JSON.parse(body) };
  });
}

interface ShapeCases {
  readonly cases: string;
  /** Where the operator allows words for good. */
  readonly optimistic: string;
}

/** Runs the requests to one service; the answers are those of the original. */
export function testShape(service: string, { cases, optimistic }: ShapeCases): void {
  const run = (rows: readonly Case[], isOptimistic: boolean) => async (t: TestContext) => {
    const world = await compatWorld(t, { isOptimistic });
    const { apiKey } = await world.account("jo@shop.example", "pro");
    for (const { name, ask, status, body } of rows) {
      const request = JSON.parse(JSON.stringify(ask).replaceAll(KEY, apiKey)) as Case["ask"];
      const told = await world.ask({ ...request, url: `/compat/${service}/${request.url}` });
      assert.deepEqual([told.status, like(told.body, body)], [status, body], name);
    }
  };
  test(`${service}: requests and answers of the original`, run(readCases(cases), false));
  if (optimistic !== "")
    test(`${service}: words for good where the operator allows`, run(readCases(optimistic), true));
}

/** Those members of `told` that `wanted` has. */
function like(told: unknown, wanted: unknown): unknown {
  if (!isRecord(told) || !isRecord(wanted)) return told;
  return Object.fromEntries(
    Object.keys(wanted).map((name) => [name, like(told[name], wanted[name])]),
  );
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const json = (body: unknown): InjectOptions => ({
  method: "POST",
  headers: { "content-type": TYPES["json"] ?? "" },
  payload: JSON.stringify(body),
});

export const form = (payload: string): InjectOptions => ({
  method: "POST",
  headers: { "content-type": TYPES["form"] ?? "" },
  payload,
});
