import assert from "node:assert/strict";
import { test } from "node:test";
import { createFetchJson } from "./published-json.ts";

const REPLY = {
  ok: true,
  value: { status: 200, headers: {}, body: Buffer.from("{}"), cut: false },
} as const;

/** A host that answers one question after the other, each when `answer` is called. */
function slowHost() {
  const asked: string[] = [];
  const open: (() => void)[] = [];
  const http = ({ url }: { readonly url: string }) => {
    asked.push(new URL(url).pathname);
    return new Promise<typeof REPLY>((resolve) => open.push(() => resolve(REPLY)));
  };
  const fetchJson = createFetchJson({ http }, { monotonicMs: () => 0 });
  const fetch = (path: string, by: string) =>
    fetchJson(`https://keys.example${path}`, { timeoutMs: 2_000, by });
  const answer = async (): Promise<void> => {
    open.shift()?.();
    await new Promise(setImmediate);
  };
  return { asked, open, fetch, answer };
}

test("issuers of one domain wait behind each other at a host, and others pass them", async () => {
  const { asked, open, fetch, answer } = slowHost();
  const evils = Array.from({ length: 30 }, (_, at) =>
    fetch(`/${String(at)}`, `i${String(at)}.evil.org`),
  );
  const honest = fetch("/honest", "issuer.example");
  await answer();
  await answer();
  assert.equal(asked[0], "/0");
  assert.ok(asked.slice(1, 3).includes("/honest"), asked.join(" "));
  while (open.length > 0) await answer();
  assert.deepEqual(await honest, {});
  assert.equal((await Promise.all(evils)).filter((json) => json === undefined).length, 21);
  assert.ok(asked.length <= 10, "the queue of a domain is bounded");
});

test("a host that is idle again keeps nothing, and is asked again", async () => {
  const { asked, fetch, answer } = slowHost();
  for (const path of ["/a", "/b"]) {
    const json = fetch(path, "issuer.example");
    await answer();
    assert.deepEqual(await json, {});
  }
  assert.deepEqual(asked, ["/a", "/b"]);
});
