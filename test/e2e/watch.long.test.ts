import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { until } from "../time/until.ts";
import { gatepost } from "./service-process.ts";
import { createAccount, serviceWorld } from "./service-world.ts";

suite("watched domains, by the API and the command of a real server", () => {
  let key = "";
  const world = serviceWorld({
    begin({ home }) {
      key = createAccount(home, "a@x.example").api_key;
    },
  });

  const ask = async (method: string, body?: object, withKey = key) => {
    const headers = {
      "content-type": "application/json",
      ...(withKey && { "x-api-key": withKey }),
    };
    const asked = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    const response = await fetch(`${world.service.url}/api/watch`, asked);
    return { status: response.status, json: (await response.json()) as Record<string, unknown> };
  };
  const names = async (): Promise<readonly string[]> => {
    const { domains } = (await ask("GET")).json as { domains: { domain: string }[] };
    return domains.map(({ domain }) => domain);
  };
  const command = (words: readonly string[], input = "") => {
    const { code, out, err } = gatepost(world.home, words, input);
    return { code, out, err };
  };

  test("the routes replace, add, remove and page", async () => {
    const put = await ask("PUT", { domains: ["b.example", "A.example", "gmail.com", "x@y"] });
    assert.deepEqual([put.status, put.json["watched"]], [200, 2]);
    const refused = put.json["refused"] as { domain: string; why: string }[];
    const why = Object.fromEntries(refused.map((each) => [each.domain, each.why]));
    assert.deepEqual(why, { "gmail.com": "shared", "x@y": "malformed" });
    assert.equal((await ask("POST", { domains: ["c.example"] })).json["watched"], 3);
    assert.equal((await ask("DELETE", { domains: ["a.example"] })).json["watched"], 2);
    assert.deepEqual(await names(), ["b.example", "c.example"]);
  });

  test("who has no secret key, and what names no domains, is refused", async () => {
    assert.equal((await ask("GET", undefined, "")).status, 401);
    assert.equal((await ask("PUT", {})).status, 400);
  });

  test("an account's own limit is set by the command, and holds", async () => {
    const set = command(["account", "limits", "a@x.example", "--watch", "2", "--json"]);
    assert.deepEqual([set.code, JSON.parse(set.out)], [0, { watch: 2 }]);
    // A running server follows within 5 s.
    const refused = await until(
      async () => {
        const answer = await ask("POST", { domains: ["d.example"] });
        return answer.status === 422 ? answer : undefined;
      },
      { everyMs: 1_500 },
    );
    assert.deepEqual(
      [refused.status, refused.json["error"]],
      [422, "Your plan watches up to 2 domains."],
    );
    assert.equal(command(["account", "limits", "a@x.example", "--watch", "2", "--plan"]).code, 2);
    assert.equal(command(["account", "limits", "a@x.example", "--plan"]).code, 0);
    await until(async () => (await ask("POST", { domains: ["e.example"] })).status === 200, {
      everyMs: 1_500,
    });
  });

  test("the command reads a file of addresses, lists, and turns it off", async () => {
    const set = command(
      ["watch", "a@x.example", "-", "--json"],
      "jo@shop.example\nfirm.example\njo@gmail.com\n",
    );
    assert.deepEqual([set.code, (JSON.parse(set.out) as { watched: number }).watched], [0, 2]);
    assert.deepEqual(await names(), ["firm.example", "shop.example"]);
    const listed = command(["watch", "a@x.example", "--list"]);
    assert.match(listed.out, /DOMAIN +MAIL[^]*firm\.example +unknown[^]*shop\.example/);
    assert.equal(command(["watch", "a@x.example"]).code, 2);
    assert.equal(command(["watch", "nobody@x.example", "--list"]).code, 1);
    assert.equal(command(["watch", "a@x.example", "--off"]).code, 0);
    assert.deepEqual(await names(), []);
  });

  test("what is forgotten, and what an account had, is watched no more", async () => {
    await ask("PUT", { domains: ["shop.example", "firm.example"] });
    assert.equal(command(["forget", "jo@shop.example", "--yes"]).code, 0);
    assert.deepEqual(await names(), ["firm.example"]);
    const other = createAccount(world.home, "b@x.example");
    await ask("PUT", { domains: ["own.example"] }, other.api_key);
    assert.equal(command(["account", "delete", "b@x.example", "--yes"]).code, 0);
    assert.deepEqual(await names(), ["firm.example"]);
  });
});
