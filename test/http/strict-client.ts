import { strict as assert } from "node:assert";

/**
 * A client as strict as the strictest of this API: it parses answers field by field and fails on everything
 * outside the contract. It is written from the contract, not from our schemas.
 */
export interface Answered {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

type Fields = Readonly<Record<string, unknown>>;

const ALWAYS = "format domain disposable dns confidence whitelist signals role free".split(" ");
const ORDER = (
  "format domain disposable dns confidence whitelist signals domain_info mx_info role free alias " +
  "spam_trap email_auth domain_age inbox_provider deliverability_score requires_upgrade upgrade_url " +
  "upgrade_message unsupported_features temporarily_unavailable_features"
).split(" ");

const text = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";
const flag = (value: unknown): boolean => typeof value === "boolean";
const texts = (value: unknown): boolean => Array.isArray(value) && value.every(text);
const percent = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 100;

const FORMS: Readonly<Record<string, (value: unknown) => boolean>> = {
  format: flag,
  domain: (value) => typeof value === "string" && /^[a-z0-9.-]{1,253}$/.test(value),
  disposable: flag,
  dns: flag,
  confidence: percent,
  whitelist: flag,
  signals: (value) =>
    texts(value) &&
    Array.isArray(value) &&
    value.length <= 20 &&
    new Set(value).size === value.length &&
    value.every((name) => /^[a-z][a-z_]*$/.test(String(name))),
  domain_info: isDomainInfo,
  mx_info: (value) =>
    Array.isArray(value) && value.length > 0 && value.every((host) => typeof host === "string"),
  role: flag,
  free: flag,
  alias: flag,
  spam_trap: isObject,
  email_auth: isObject,
  domain_age: isObject,
  inbox_provider: text,
  deliverability_score: percent,
  requires_upgrade: texts,
  upgrade_url: text,
  upgrade_message: text,
  unsupported_features: texts,
  temporarily_unavailable_features: texts,
};

function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isDomainInfo(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { tld, is_subdomain: isSubdomain, parent_domain: parent } = value;
  return text(tld) && flag(isSubdomain) && (isSubdomain === true ? text(parent) : parent === null);
}

/** Reads a validation result, or throws with what is wrong. `family` says which of the two was asked. */
export function readResult(answer: Answered, family: "email" | "domain"): Fields {
  assert.equal(answer.status, 200, answer.body.slice(0, 300));
  readHead(answer);
  const result: unknown = JSON.parse(answer.body);
  assert.ok(isObject(result), "a result is an object");
  const keys = Object.keys(result);
  assert.deepEqual(
    keys,
    ORDER.filter((name) => keys.includes(name)),
    "keys are in the contract's order, without others",
  );
  for (const name of ALWAYS) assert.ok(keys.includes(name), `${name} is always there`);
  for (const name of keys) {
    assert.ok(FORMS[name]?.(result[name]), `${name} is ${JSON.stringify(result[name])}`);
  }
  assert.equal(keys.includes("alias"), family === "email", "alias belongs to email checks");
  assert.equal(
    keys.includes("mx_info"),
    result["dns"] === true,
    "mx_info is present exactly when dns is true",
  );
  assert.equal(keys.includes("domain_info"), result["format"] === true);
  return result;
}

/** Reads an error, or throws with what is wrong; gives its message. */
export function readError(answer: Answered, status: number): string {
  assert.equal(answer.status, status, answer.body.slice(0, 300));
  readHead(answer);
  const error: unknown = JSON.parse(answer.body);
  assert.ok(isObject(error), "an error is an object");
  const [first, ...more] = Object.keys(error);
  assert.equal(first, "error");
  for (const name of more) assert.ok(name === "retry_after" || name === "reset_at", name);
  assert.ok(text(error["error"]), "the message is not blank");
  return String(error["error"]);
}

/** For any request: a result, or a refusal that is not a fault. Returns the status. */
export function readAny(answer: Answered, family: "email" | "domain"): number {
  if (answer.status === 200) readResult(answer, family);
  else {
    assert.ok(answer.status >= 400 && answer.status < 500, `${answer.status}: ${answer.body}`);
    readError(answer, answer.status);
  }
  return answer.status;
}

function readHead({ headers }: Answered): void {
  assert.equal(headers["content-type"], "application/json");
  assert.equal(headers["access-control-allow-origin"], "*");
}
