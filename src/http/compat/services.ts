import type { FullResult } from "../../core/validate/result.ts";
import type { Clock } from "../../base/clock.ts";
import type { Admission } from "../../accounts/admission/admission.ts";
import type { UnitsLeft } from "../../accounts/allowance.ts";
import type { CheckOne } from "../../check/check-one.ts";
import {
  INTERNAL_ERROR_MESSAGE,
  methodNotAllowed,
  notFound,
  type Refusal,
} from "../../base/refusals.ts";
import { type ApiReply, type ApiRequest, JSON_TYPE, type Route } from "../route.ts";
import { debounceFree, kickboxOpen, mailcheckAi, truemail, usercheck } from "./domains.ts";
import { neverbounce, verifalia, zerobounce } from "./list-services.ts";
import {
  type Endpoint,
  shapeFacts,
  keyAt,
  type Shape,
  type ShapeAnswer,
  type ShapeRequest,
  UNLIMITED,
  type Why,
} from "./shape.ts";
import { kickbox, reacher } from "./verifiers.ts";

/** Every service whose clients work here with another base URL. */
export const SHAPES: readonly Shape[] = [
  kickboxOpen,
  kickbox,
  debounceFree,
  usercheck,
  mailcheckAi,
  zerobounce,
  neverbounce,
  reacher,
  truemail,
  verifalia,
];

interface CompatDeps {
  readonly checkOne: CheckOne;
  readonly admission: Pick<Admission, "spend">;
  readonly unitsLeft: UnitsLeft;
  readonly clock: Clock;
  readonly isOptimistic: boolean;
}

export const compatRoutes = (deps: CompatDeps): readonly Route[] =>
  SHAPES.map((shape) => compatRoute(shape, deps));

/** A batch of 200 addresses in JSON fits. */
const BATCH_MAX_BYTES = 65_536;

/** Answers what clients of another service send, in its words: the same gate, units and rates as a single check. */
function compatRoute(shape: Shape, deps: CompatDeps): Route {
  const { service, keys, parameters, cors = false, endpoints } = shape;
  return {
    family: `compat/${service}`,
    methods: [...new Set(endpoints.flatMap(methodsOf))],
    body: "params",
    parameters: new Set(parameters),
    charges: "units",
    foreign: { cors },
    before: {
      maxBytes: BATCH_MAX_BYTES,
      terms(params, source) {
        const given = keys.map((place) => keyAt(place, params, source.headers));
        const key = given.find((text) => text !== undefined);
        return key === undefined ? {} : { credentials: { apiKey: [key], authorization: [] } };
      },
    },
    refused(refusal, { path, params }) {
      const found = endpointAt(endpoints, path)?.endpoint;
      return {
        crossOrigin: cors,
        ...replyOf((found?.refused ?? shape.refused)(whyOf(refusal), params)),
      };
    },
    isSingle: () => true,
    async handle(request) {
      const at = endpointAt(endpoints, request.path);
      if (at === undefined) throw notFound();
      if (!methodsOf(at.endpoint).includes(request.method)) throw methodNotAllowed();
      const { paid, shapeRequest } = shapeRequestOf(request, at.entry, deps);
      const reply = replyOf(await at.endpoint.answer(shapeRequest));
      return { crossOrigin: cors, ...reply, ...paid };
    },
  };
}

const methodsOf = ({ methods = ["GET"] }: Endpoint): readonly ApiRequest["method"][] => methods;

function endpointAt(endpoints: readonly Endpoint[], path: ApiRequest["path"]) {
  const text = path.join("/");
  for (const endpoint of endpoints) {
    for (const pattern of endpoint.paths) {
      const entry = entryAt(pattern, text);
      if (entry !== undefined) return { endpoint, entry };
    }
  }
  return undefined;
}

/** The entry at the pattern's "*", "" in a pattern without one; undefined if the path is another. */
function entryAt(pattern: string, path: string): string | undefined {
  const star = pattern.indexOf("*");
  if (star < 0) return path === pattern ? "" : undefined;
  const [start, end] = [pattern.slice(0, star), pattern.slice(star + 1)];
  const isLong = path.length > start.length + end.length;
  if (!isLong || !path.startsWith(start) || !path.endsWith(end)) return undefined;
  return path.slice(start.length, path.length - end.length);
}

function shapeRequestOf(
  { params, admitted }: ApiRequest,
  entry: string,
  { checkOne, unitsLeft, admission, clock, isOptimistic }: CompatDeps,
) {
  /** What paid for the last check, and its entry for the log. */
  const paid: Partial<Pick<ApiReply, "paidBy" | "entry">> = {};
  const shapeRequest: ShapeRequest = {
    params,
    entry,
    async check(text, { mode = "address", features = [] } = {}) {
      const startMs = clock.monotonicMs();
      const as = mode === "either" ? (text.includes("@") ? "address" : "domain") : mode;
      const { body, paidBy } = await checkOne(admitted, { text, mode: as, features });
      Object.assign(paid, { paidBy, entry: text });
      const result = JSON.parse(body) as FullResult; // a single check's own body
      const tookMs = clock.monotonicMs() - startMs;
      return shapeFacts(text, result, { isOptimistic, tookMs, nowMs: clock.nowMs() });
    },
    spend: async (requests) => await admission.spend(admitted, requests),
    unitsLeft: async () => Math.min(await unitsLeft(admitted.caller), UNLIMITED),
  };
  return { shapeRequest, paid };
}

function replyOf({ status = 200, body, headers }: ShapeAnswer): ApiReply {
  const isText = typeof body === "string";
  return {
    status,
    type: isText ? "text/plain; charset=utf-8" : JSON_TYPE,
    body: isText ? body : JSON.stringify(body),
    ...(headers !== undefined && { headers }),
  };
}

const KINDS: Readonly<Record<string, Why["kind"]>> = {
  invalid_api_key: "key",
  account_disabled: "key",
  publishable_key: "key",
  rate_exceeded: "rate",
  quota_exceeded: "quota",
  missing_parameter: "missing",
};

function whyOf(refusal: Refusal | undefined): Why {
  if (refusal === undefined) return { kind: "fault", message: INTERNAL_ERROR_MESSAGE, status: 500 };
  const { code, status, message } = refusal;
  return { kind: KINDS[code] ?? (status >= 500 ? "fault" : "request"), message, status };
}
