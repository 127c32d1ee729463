import assert from "node:assert/strict";
import fc from "fast-check";
import { test } from "node:test";
import { anyCharacter } from "../../../../test/process/any-character.ts";
import { checkDeps, checkIn, domainOf, fieldsIn } from "../../../../test/process/check-run.ts";
import { type Zone, zoneLookup } from "../../../../test/dns/zone-lookup.ts";
import type { Answer, Lookup } from "../../mail/lookup.ts";
import { COMMON_SELECTORS, RARER_SELECTORS, SELECTORS_OF_PROVIDER } from "../../tables/data.ts";
import type { PremiumFields } from "../registry.ts";
import { isKey, selectorsFor, unlikelySelector } from "./dkim.ts";
import { runChecks } from "../run.ts";

const D = "shop.example";
const KEY = "v=DKIM1; k=rsa; p=MIGfMA0GCSqGSIb3DQEBAQUAA4GNADCBiQKBgQ==";
const OTHER_KEY = "v=DKIM1; k=rsa; p=AAAAB3NzaC1yc2EAAAADAQABAAABAQ==";

const RECORDS: readonly [name: string, record: string, want: boolean][] = [
  ["6376 section 3.6.1: a usual key", KEY, true],
  ["6376 section 3.6.1: p alone will do", "p=MIGfMA0=", true],
  ["6376 section 3.6.1: an empty p is a revoked key", "v=DKIM1; k=rsa; p=", false],
  ["6376 section 3.6.1: blanks are an empty p too", "v=DKIM1; p= ; t=s", false],
  ["6376 section 3.6.1: a record without p holds no key", "v=DKIM1; k=rsa", false],
  ["6376 section 3.6.1: the version comes first", "p=MIGf; v=DKIM1", false],
  ["6376 section 3.6.1: another version", "v=DKIM2; p=MIGf", false],
  ["6376 section 3.6.1: the version is case-sensitive", "v=dkim1; p=MIGf", false],
  ["6376 section 3.6.1: p in base64 only", "v=DKIM1; p=<your key here>", false],
  ["6376 section 3.6.1: white space inside p", "v=DKIM1; p=MIGf MA0G\t CSqG", true],
  ["6376 section 2.8: U+00A0 is no white space", "v=DKIM1;\u00a0k=rsa;\u00a0p=MIGf", false],
  ["6376 section 2.8: nor U+3000 behind the key", "v=DKIM1; p=MIGf\u3000", false],
  ["6376 section 3.6.1: k defaults to rsa", "v=DKIM1; p=MIGf", true],
  ["6376 section 3.6.1: an unknown key type", "v=DKIM1; k=dsa; p=MIGf", false],
  [
    "8463 section 4: ed25519",
    "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
    true,
  ],
  ["6376 section 3.6.1: s for e-mail", "v=DKIM1; s=email; p=MIGf", true],
  ["6376 section 3.6.1: s for everything", "v=DKIM1; s=*; p=MIGf", true],
  ["6376 section 3.6.1: s for several services", "v=DKIM1; s=tlsrpt:email; p=MIGf", true],
  ["8460 section 3: s for reports only", "v=DKIM1; s=tlsrpt; p=MIGf", false],
  ["6376 section 3.6.1: testing is still a key", "v=DKIM1; t=y; p=MIGf", true],
  ["6376 section 3.6.1: h and n are not asked", "v=DKIM1; h=sha256; n=hello; p=MIGf", true],
  ["6376 section 3.2: unknown tags are passed over", "v=DKIM1; foo=bar; p=MIGf", true],
  ["6376 section 3.2: a tag twice breaks the list", "v=DKIM1; p=MIGf; p=MIGg", false],
  ["6376 section 3.2: a part that is not a tag breaks it", "v=DKIM1; hello; p=MIGf", false],
  ["6376 section 3.2: two semicolons break it", "v=DKIM1;; p=MIGf", false],
  ["6376 section 3.2: one at the end does not", "v=DKIM1; p=MIGf;", true],
  ["6376 section 3.2: tag names are case-sensitive", "v=DKIM1; P=MIGf", false],
  ["6376 section 3.2: no blanks around anything", "v=DKIM1;p=MIGf", true],
  ["6376 section 3.6.2: an SPF record is not a key", "v=spf1 -all", false],
  ["6376 section 3.6.2: an empty text is not a key", "", false],
  ["6376 section 3.2: letters beyond ASCII in a value", "v=DKIM1; n=é; p=MIGf", false],
];

for (const [name, record, want] of RECORDS) {
  test(`DKIM, RFC ${name}`, () => {
    assert.equal(isKey(record), want);
  });
}

const at = (selector: string, domain = D): string => `${selector}._domainkey.${domain}`;
const WILDCARD = at(unlikelySelector(D));
/** A wildcard in a zone literal: every selector that could be asked. */
const everySelector = (text: string): Zone =>
  Object.fromEntries(
    [WILDCARD, ...[...COMMON_SELECTORS, ...RARER_SELECTORS].map((name) => at(name))].map((name) => [
      name,
      { txt: [text] },
    ]),
  );
const withMx = (host: string): Zone => ({
  [D]: { mx: [`10 ${host}`] },
  [host]: { a: ["192.0.2.1"] },
});

const WORLDS: readonly [name: string, zone: Zone, want: readonly string[] | "unavailable"][] = [
  ["nothing published", {}, []],
  ["a common selector", { [at("default")]: { txt: [KEY] } }, ["default"]],
  [
    "a selector that is a dangling CNAME has no record",
    { [at("selector1")]: {}, [at("selector2")]: { txt: [KEY] } },
    ["selector2"],
  ],
  ["a revoked key does not count", { [at("google")]: { txt: ["v=DKIM1; p="] } }, []],
  ["a key beside another text counts", { [at("google")]: { txt: ["hello", KEY] } }, ["google"]],
  [
    "found ones come in probe order",
    { [at("mail")]: { txt: [KEY] }, [at("google")]: { txt: [KEY] } },
    ["google", "mail"],
  ],
  [
    "three are enough",
    {
      [at("google")]: { txt: [KEY] },
      [at("mail")]: { txt: [KEY] },
      [at("k1")]: { txt: [KEY] },
      [at("s1")]: { txt: [KEY] },
    },
    ["google", "mail", "k1"],
  ],
  [
    "the provider's own selector comes first",
    {
      ...withMx("in1-smtp.messagingengine.com"),
      [at("fm1")]: { txt: [KEY] },
      [at("google")]: { txt: [KEY] },
    },
    ["fm1", "google"],
  ],
  [
    "behind a gateway the provider is read from SPF",
    {
      [D]: { mx: ["10 mx1.pphosted.com"], txt: ["v=spf1 include:_spf.protonmail.ch -all"] },
      "mx1.pphosted.com": { a: ["192.0.2.1"] },
      [at("protonmail3")]: { txt: [KEY] },
      [at("google")]: { txt: [KEY] },
    },
    ["protonmail3", "google"],
  ],
  ["a wildcard key proves no selector", everySelector(KEY), []],
  [
    "a wildcard without a key masks nothing",
    { ...everySelector("v=spf1 -all"), [at("google")]: { txt: [KEY] } },
    ["google"],
  ],
  [
    "a key of its own beside a wildcard counts",
    { ...everySelector(OTHER_KEY), [at("google")]: { txt: [KEY] } },
    ["google"],
  ],
  [
    "a probe that fails beside a key",
    { [at("google")]: { unknown: true }, [at("mail")]: { txt: [KEY] } },
    ["mail"],
  ],
  ["a probe that fails and nothing found", { [at("google")]: { unknown: true } }, "unavailable"],
  [
    "a wildcard that could not be ruled out",
    { [WILDCARD]: { unknown: true }, [at("mail")]: { txt: [KEY] } },
    "unavailable",
  ],
  ["no keys at all need no wildcard answer", { [WILDCARD]: { unknown: true } }, []],
];

for (const [name, zone, want] of WORLDS) {
  test(`DKIM probes: ${name}`, async () => {
    const fields = await fieldsIn(zone, D, ["dkim"]);
    const expected = Array.isArray(want)
      ? { email_auth: { dkim_configured: want.length > 0, dkim_selectors_found: want } }
      : want;
    assert.deepEqual(fields, expected);
  });
}

test("every common selector is probed once, for any provider", () => {
  for (const provider of [undefined, ...SELECTORS_OF_PROVIDER.keys()]) {
    const selectors = selectorsFor(provider);
    assert.equal(new Set(selectors).size, selectors.length);
    for (const common of COMMON_SELECTORS) assert.ok(selectors.includes(common), common);
  }
});

test("selectors are lower case and can stand in a name", () => {
  const all = [
    ...COMMON_SELECTORS,
    ...RARER_SELECTORS,
    ...[...SELECTORS_OF_PROVIDER.values()].flat(),
  ];
  for (const selector of all) assert.match(selector, /^[a-z0-9][a-z0-9_-]*$/);
});

test("the unlikely selector is stable, differs between domains and is a label", () => {
  assert.equal(unlikelySelector(D), unlikelySelector(D));
  const names = Array.from({ length: 10_000 }, (_, index) => `d${index}.example`);
  assert.equal(new Set(names.map(unlikelySelector)).size, names.length);
  fc.assert(
    fc.property(fc.string(), (domain) => {
      assert.match(unlikelySelector(domain), /^gp-[0-9a-f]{16}$/);
    }),
  );
});

/** A lookup whose TXT answers are held back until the test lets them go, in any order. */
function heldLookup(zone: Zone): {
  readonly lookup: Lookup;
  readonly open: Map<string, () => void>;
} {
  const answers = zoneLookup(zone);
  const open = new Map<string, () => void>();
  const txt = (name: string): Promise<Answer<string>> =>
    new Promise((resolve, reject) => {
      open.set(name, () => {
        open.delete(name);
        Promise.resolve(answers.txt(name)).then(resolve, reject);
      });
    });
  return { lookup: { ...answers, txt }, open };
}

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

async function probedIn(
  order: "first" | "last",
  zone: Zone,
): Promise<readonly [PremiumFields, number]> {
  const { lookup, open } = heldLookup(zone);
  let most = 0;
  let ended = false;
  const subject = { domain: domainOf(D), mail: { kind: "none", why: "noMx" } } as const;
  const asked = { features: ["dkim"], spamTrap: false } as const;
  const running = runChecks(asked, subject, checkDeps(lookup)).finally(() => (ended = true));
  for (let step = 0; step < 200 && !ended; step += 1) {
    await turn();
    most = Math.max(most, open.size);
    [...open.values()].at(order === "first" ? 0 : -1)?.();
  }
  return [(await running).fields, most];
}

test("at most eight probes are in flight, and the order of answers changes nothing", async () => {
  const found = ["google", "selector2", "mail", "k1", "k3", "s2"];
  const zone = Object.fromEntries(found.map((name) => [at(name), { txt: [KEY] }]));
  const [early, mostEarly] = await probedIn("first", zone);
  const [late, mostLate] = await probedIn("last", zone);
  assert.deepEqual(early.email_auth?.dkim_selectors_found, ["google", "selector2", "mail"]);
  assert.deepEqual(late, early);
  assert.deepEqual([mostEarly, mostLate], [8, 8]);
});

test("the probes get 2.5 s of their own; open ones count as unknown", async () => {
  const given: number[] = [];
  const zone = zoneLookup({ [D]: { txt: ["v=spf1 -all"] } });
  const dead: Lookup = { ...zone, txt: () => ({ kind: "unknown", why: "deadline" }) };
  const within = (milliseconds: number): Lookup => {
    given.push(milliseconds);
    return dead;
  };
  const subject = { domain: domainOf(D), mail: { kind: "none", why: "noMx" } } as const;
  const asked = { features: ["dkim", "spf"], spamTrap: false } as const;
  const results = await runChecks(asked, subject, checkDeps(zone, { within }));
  assert.deepEqual(given, [2_500]);
  assert.deepEqual(results.unavailable, ["dkim"]);
  assert.equal(results.fields.email_auth?.spf, "hardfail");
});

test("once three are found no more is asked", async () => {
  const zone = Object.fromEntries(
    ["google", "selector1", "selector2"].map((name) => [at(name), { txt: [KEY] }]),
  );
  const { asked } = await checkIn(zone, D, ["dkim"]);
  assert.ok(asked.length <= 8 + 7, String(asked.length));
});

test("10,000 tags are not a key, and no text throws", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => `x${index}=1`).join(";");
  assert.equal(isKey(`v=DKIM1;p=MIGf;${many}`), false);
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), (text) => {
      assert.equal(typeof isKey(`v=DKIM1;${text}`), "boolean");
    }),
  );
});
