import { strict as assert } from "node:assert";
import { test } from "node:test";
import { manualClock } from "../../test/time/manual-clock.ts";
import { statsOf, until, webhookWorld } from "../../test/process/webhook-world.ts";

const SESSION = "a".repeat(32);

test("test.ping goes out whatever events are selected, ten times a minute", async (t) => {
  const clock = manualClock();
  const { subscribe, ping, posts } = await webhookWorld(t, { clock });
  await subscribe("a1", undefined, ["bulk.completed"]);
  await subscribe("b1");
  const pinging = Promise.allSettled(Array.from({ length: 12 }, () => ping("a1")));
  await until("ten posts", () => {
    clock.advance(250); // for the two that wait for a place
    return posts.length === 10;
  });
  const made = await pinging;
  const refused = made.filter(({ status }) => status === "rejected");
  assert.deepEqual([posts.length, refused.length], [10, 2]);
  await ping("b1");
  clock.advance(60_001);
  await ping("a1");
  const { data } = JSON.parse(new TextDecoder().decode(posts[0]?.body)) as { data: unknown };
  assert.deepEqual(data, { message: "Webhook endpoint verified." });
});

test("without a webhook a ping is refused", async (t) => {
  const { ping } = await webhookWorld(t);
  await assert.rejects(ping("a1"), { code: "no_webhook", status: 404 });
});

test("a ping goes past the deliveries of its account that wait", async (t) => {
  const { subscribe, announce, ping, parked } = await webhookWorld(t);
  await subscribe("a1", "https://hang.example/");
  for (let index = 0; index < 20; index += 1) await announce("a1", statsOf(SESSION));
  await until("eight posts", () => parked.length === 8);
  const pinged = ping("a1");
  // Each place that frees is wanted by the ping and by the queue; the ping cannot need more than twelve.
  for (
    let freed = 0;
    freed < 12 && !parked.some(({ post }) => post.event === "test.ping");
    freed += 1
  ) {
    parked[freed]?.answer();
    await until("the next post", () => parked.length === 9 + freed);
  }
  for (let answered = 0; answered < 21; answered += 1) {
    await until("a post to answer", () => parked.length > answered);
    parked[answered]?.answer();
  }
  assert.equal((await pinged).status, 200);
});
