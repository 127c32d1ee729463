import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import type { Notices } from "../../../src/store/notices.ts";
import type { Make } from "../contract.ts";

/** Two ends that receive each other's notices: two processes, or one twice. */
export interface NoticesFixture {
  readonly here: Notices;
  readonly there: Notices;
}

export function noticesContract(name: string, make: Make<NoticesFixture>): void {
  for (const end of ["here", "there"] as const) {
    test(`${name}: a notice sent here arrives ${end}`, async (t) => {
      const ends = await make(t);
      const heard = new EventEmitter();
      ends[end].hear("lists", () => heard.emit("lists"));
      const hearing = once(heard, "lists");
      ends.here.tell("lists");
      await hearing;
    });
  }

  test(`${name}: a notice reaches the listeners of its topic only`, async (t) => {
    const { here, there } = await make(t);
    const heard: string[] = [];
    there.hear("accounts", () => heard.push("accounts"));
    const lists = new Promise<void>((resolve) => void there.hear("lists", resolve));
    here.tell("lists");
    await lists;
    assert.deepEqual(heard, []);
  });

  test(`${name}: a removed listener receives nothing`, async (t) => {
    const { here, there } = await make(t);
    let count = 0;
    const end = there.hear("lists", () => (count += 1));
    end();
    end();
    const other = new Promise<void>((resolve) => void there.hear("lists", resolve));
    here.tell("lists");
    await other;
    assert.equal(count, 0);
  });
}
