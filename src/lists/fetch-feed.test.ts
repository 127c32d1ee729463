import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { HttpQuestion, HttpReply, OutboundResult } from "../outbound/outbound-types.ts";
import { fetchList } from "./feed-refresher.ts";

const SOURCE = "https://lists.example/ded";
const COPY = { etag: '"1"', lastModified: "Sun, 01 Nov 2026 00:00:00 GMT" };

const BODY = Buffer.from("bad.example\n");

/** Asks a source that answers so; what it was asked, and what was made of its answer. */
async function askOf(answer: OutboundResult<HttpReply>, last?: Parameters<typeof fetchList>[2]) {
  const asked: HttpQuestion[] = [];
  const got = await fetchList("ded", SOURCE, last, (question) => {
    asked.push(question);
    return Promise.resolve(answer);
  });
  const its = "kind" in got ? got : undefined;
  return { asked, got, told: its && [its.kind, its.why, its.detail] };
}

const reply = (more: Partial<HttpReply>): OutboundResult<HttpReply> => ({
  ok: true,
  value: { status: 200, headers: {}, body: BODY, cut: false, ...more },
});

const answers = [
  ["nothing is new", reply({ status: 304 }), ["unchanged", undefined, undefined]],
  [
    "nothing is new, and a body beside it",
    reply({ status: 304, body: Buffer.from("gmail.com\n"), headers: { etag: '"2"' } }),
    ["unchanged", undefined, undefined],
  ],
  ["a part of it", reply({ status: 206 }), ["refused", "bad_status", "206"]],
  ["an answer without content", reply({ status: 204 }), ["refused", "bad_status", "204"]],
  ["a redirect to nowhere", reply({ status: 302 }), ["refused", "bad_status", "302"]],
  ["more than is read", reply({ cut: true }), ["refused", "too_large", undefined]],
  [
    "redirects in a circle",
    { ok: false, fault: "redirect", detail: "too many" },
    ["refused", "not_fetched", "redirect too many"],
  ],
  [
    "a certificate that nobody vouches for",
    { ok: false, fault: "tls", detail: "DEPTH_ZERO_SELF_SIGNED_CERT" },
    ["refused", "not_fetched", "tls DEPTH_ZERO_SELF_SIGNED_CERT"],
  ],
  [
    "a mirror inside the network",
    { ok: false, fault: "not_public", detail: "10.0.0.9" },
    ["refused", "not_fetched", "not_public 10.0.0.9 (allow it with GATEPOST_OUTBOUND_ALLOW)"],
  ],
  ["no time left", { ok: false, fault: "timeout" }, ["refused", "not_fetched", "timeout"]],
] as const;

for (const [name, answer, want] of answers) {
  test(`a source answers a question on condition: ${name}`, async () => {
    const { told } = await askOf(answer, COPY);
    assert.deepEqual(told, want);
  });
}

test("without a copy nothing can be unchanged, and no condition is set", async () => {
  const { asked, told } = await askOf(reply({ status: 304 }));
  assert.deepEqual(told, ["refused", "bad_status", "304"]);
  assert.deepEqual(asked[0]?.headers, { Accept: "*/*", "User-Agent": "gatepost" });
});

test("the conditions are what the source said of the copy, each by itself", async () => {
  for (const last of [COPY, { etag: '"1"' }, { lastModified: COPY.lastModified }, {}]) {
    const { asked } = await askOf(reply({ status: 304 }), last);
    const { "If-None-Match": etag, "If-Modified-Since": lastModified } = asked[0]?.headers ?? {};
    assert.deepEqual({ etag, lastModified }, { ...NEITHER, ...last });
  }
});

const NEITHER = { etag: undefined, lastModified: undefined };

const validators = [
  ["a weak tag", 'W/"a b"', 'W/"a b"'],
  ["a tag as long as may be", `"${"x".repeat(298)}"`, `"${"x".repeat(298)}"`],
  ["a tag that is too long to send back", `"${"x".repeat(299)}"`, undefined],
  ["a tag in letters that headers cannot hold", '"\u00e9"', undefined],
  ["an empty tag", "", undefined],
] as const;

for (const [name, etag, want] of validators) {
  test(`what is kept of a file's ${name}`, async () => {
    const { got } = await askOf(reply({ headers: { etag } }), COPY);
    assert.ok("body" in got);
    assert.deepEqual(
      [got.validators.etag, got.validators.lastModified, got.body],
      [want, undefined, BODY],
    );
  });
}
