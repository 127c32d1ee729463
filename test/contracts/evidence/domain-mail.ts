import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { DomainMail, DomainMails } from "../../../src/lists/domain-mails.ts";
import type { Make } from "../contract.ts";

const mail = (domain: string, day = 5, more: Partial<DomainMail> = {}): DomainMail => ({
  domain,
  hosts: [`mx1.${domain}`, `mx2.${domain}`],
  addresses: [],
  disposable: false,
  day,
  ...more,
});

const names = (all: readonly DomainMail[]): readonly string[] => all.map(({ domain }) => domain);

/** The contract of every store of mail hosts. `make` returns an empty one. */
export function domainMailContract(name: string, make: Make<DomainMails>): void {
  const check = (rule: string, run: (mails: DomainMails) => Promise<void>): void =>
    void test(`${name}: ${rule}`, async (t) => run(await make(t)));

  check("the last mail hosts seen for a domain are kept", async (mails) => {
    await mails.save([mail("a.example")], 9);
    const last = mail("a.example", 6, {
      hosts: ["mx.b.example"],
      addresses: ["192.0.2.1", "2001:db8::1"],
      disposable: true,
    });
    await mails.save([last], 9);
    assert.deepEqual(await mails.page("", 9), [last]);
  });

  check("many domains in one call are kept like few", async (mails) => {
    const many = Array.from({ length: 200 }, (_, at) =>
      mail(`n${String(at).padStart(3, "0")}.example`),
    );
    await mails.save(many.toReversed(), 1_000);
    const later = many.map((one) => ({
      ...one,
      day: 6,
      disposable: true,
      hosts: ["mx.late.example"],
    }));
    await mails.save(later, 1_000);
    assert.deepEqual(await mails.page("", 1_000), later);
    await mails.save(
      many.map(({ domain }) => mail(`x${domain}`)),
      250,
    );
    assert.equal((await mails.page("", 1_000)).length, 250);
  });

  check("pages follow one another in the order of domains", async (mails) => {
    await mails.save(
      ["c.example", "a.example", "b.example"].map((domain) => mail(domain)),
      9,
    );
    assert.deepEqual(names(await mails.page("", 2)), ["a.example", "b.example"]);
    assert.deepEqual(names(await mails.page("b.example", 2)), ["c.example"]);
  });

  check("a full store takes no new domains and updates known ones", async (mails) => {
    await mails.save([mail("a.example"), mail("b.example")], 2);
    await mails.save([mail("c.example"), mail("a.example", 6)], 2);
    const all = await mails.page("", 9);
    assert.deepEqual(
      all.map(({ domain, day }) => `${domain} ${String(day)}`),
      ["a.example 6", "b.example 5"],
    );
  });

  check("pruning deletes earlier days, then the oldest beyond the maximum", async (mails) => {
    const days = [1, 3, 4, 4, 5, 5];
    await mails.save(
      days.map((day, n) => mail(`d${String(n)}.example`, day)),
      9,
    );
    assert.equal(await mails.prune(2, 4), 2, "day 1, and day 3, which would be a fifth");
    assert.equal(await mails.prune(2, 3), 2, "a day is deleted completely");
    assert.equal(await mails.prune(2, 1), 0, "the newest day stays complete");
    assert.deepEqual(names(await mails.page("", 9)), ["d4.example", "d5.example"]);
  });
}
