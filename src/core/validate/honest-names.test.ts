import assert from "node:assert/strict";
import { test } from "node:test";
import { literalDatasets } from "../../../test/lists/literal-datasets.ts";
import { NOW_MS } from "../../../test/process/check-run.ts";
import type { Lookup, UnknownReason } from "../mail/lookup.ts";
import { LARGE_PROVIDERS } from "../tables/data.ts";
import { validate } from "./validate.ts";

/** Organisations, universities and companies, with names that hold "rn", "nn", "mail" or letters of their own. */
const ORGANISATIONS =
  "un.org who.int redcross.org cern.ch bern.ch modern.com internet.org barnes.com cornell.edu upenn.edu vanderbilt.edu rn.com annmail.com cannes.com penn.com turn.com mit.edu ox.ac.uk cam.ac.uk ethz.ch tum.de uni-bonn.de u-tokyo.ac.jp ntu.edu.tw unam.mx usp.br anu.edu.au uct.ac.za sorbonne-universite.fr uva.nl ku.dk helsinki.fi jagmail.southalabama.edu siemens.com sony.co.jp debian.org apache.org xn--mnchen-3ya.de xn--bcher-kva.ch xn--80aswg.xn--p1ai xn--fiqs8s.cn mail.ru.nl bürgeramt.de";

const unknown = (why: UnknownReason): Partial<Lookup> => ({
  mx: () => ({ kind: "unknown", why }),
  addresses: () => ({ kind: "unknown", why }),
});

const WORLDS: Readonly<Record<string, Partial<Lookup>>> = {
  answering: {
    mx: (name) => ({ kind: "found", records: [{ preference: 10, host: `mx.${name}` }] }),
    addresses: () => ({ kind: "found", records: ["93.184.215.14"] }),
  },
  silent: unknown("timeout"),
  filtering: unknown("filtered"),
};

for (const [state, answers] of Object.entries(WORLDS)) {
  test(`no provider, university or organisation is disposable, or without mail, while DNS is ${state}`, async () => {
    const never = () => ({ kind: "unknown", why: "refused" }) as const;
    const lookup = { mx: never, addresses: never, txt: never, registration: never, ...answers };
    const datasets = literalDatasets();
    const asked = { features: [], spamTrap: false } as const;
    for (const name of [...LARGE_PROVIDERS, ...ORGANISATIONS.split(" ")]) {
      const { result } = await validate(
        { text: `jo@${name}`, mode: "either", asked, nowMs: NOW_MS, implicitMx: false },
        { datasets, lookup, within: () => lookup },
      );
      const { format, disposable, dns, signals } = result;
      assert.deepEqual([format, disposable, dns], [true, false, state === "answering"], name);
      assert.equal(signals.includes("dns_indeterminate"), state !== "answering", name);
      assert.ok(!signals.includes("no_mx_records") && !signals.includes("typo_domain"), name);
    }
  });
}
