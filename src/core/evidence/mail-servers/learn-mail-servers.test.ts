import { strict as assert } from "node:assert";
import { test } from "node:test";
import {
  LEARNING,
  type LearnedServer,
  type MailSighting,
  MailServerTally,
} from "./learn-mail-servers.ts";
import { isCommonCarrier, isSharedMailHost } from "../../mail/mail-hosts.ts";

const ADDRESS = "203.0.113.5";
const GOOGLE = "aspmx.l.google.com";

interface Case {
  readonly name: string;
  readonly sightings: readonly MailSighting[];
  readonly want: readonly LearnedServer[];
}

/** So many domains whose mail goes to the same place; "mail.*" stands for the host "mail" of each. */
const domainsAt = (
  count: number,
  hosts: readonly string[],
  { listed = true, addresses = [] }: { listed?: boolean; addresses?: readonly string[] } = {},
): readonly MailSighting[] =>
  Array.from({ length: count }, (_, n) => {
    const domain = `${listed ? "bad" : "good"}${String(n)}.example`;
    return { domain, listed, hosts: hosts.map((host) => host.replace("*", domain)), addresses };
  });

const { listedMin, dedicatedListedMin } = LEARNING;
const MANY = dedicatedListedMin;

const cases: readonly Case[] = [
  {
    name: "a host of many listed domains and nobody else is dedicated, and so is its address",
    sightings: domainsAt(MANY, ["mx.one.example"], { addresses: [ADDRESS] }),
    want: [
      ["mx.one.example", "dedicated"],
      [ADDRESS, "dedicated"],
    ],
  },
  {
    name: "with one listed domain fewer it is shared",
    sightings: domainsAt(MANY - 1, ["mx.one.example"]),
    want: [["mx.one.example", "shared"]],
  },
  {
    name: "of a handful nothing is learned",
    sightings: domainsAt(listedMin - 1, ["mx.one.example"], { addresses: [ADDRESS] }),
    want: [],
  },
  {
    name: "a domain that is seen many times counts once",
    sightings: Array.from({ length: MANY }, () => domainsAt(1, ["mx.one.example"])).flat(),
    want: [],
  },
  {
    name: "two honest domains among twenty make it shared",
    sightings: [
      ...domainsAt(MANY, ["mx.one.example"]),
      ...domainsAt(2, ["mx.one.example"], { listed: false }),
    ],
    want: [["mx.one.example", "shared"]],
  },
  {
    name: "a host in each domain is known by the address of all, IPv6 alone too",
    sightings: domainsAt(MANY, ["mail.*"], { addresses: ["2001:db8::5"] }),
    want: [["2001:db8::5", "dedicated"]],
  },
  {
    name: "listed domains that point at a carrier of anybody's mail make nobody suspect",
    sightings: domainsAt(5 * MANY, [GOOGLE], { addresses: [ADDRESS] }),
    want: [],
  },
  {
    name: "hosts of listed domains that have a carrier's address do not make it suspect",
    sightings: [
      ...domainsAt(MANY, ["mail.*"], { addresses: [ADDRESS] }),
      ...domainsAt(1, [GOOGLE], { listed: false, addresses: [ADDRESS] }),
    ],
    want: [],
  },
  {
    name: "a carrier behind the first host of one domain does not clear the machine of the others",
    sightings: [
      ...domainsAt(MANY, ["mail.*"], { addresses: [ADDRESS] }),
      {
        domain: "decoy.example",
        listed: true,
        hosts: ["mail.decoy.example", GOOGLE],
        addresses: [ADDRESS],
      },
    ],
    want: [[ADDRESS, "dedicated"]],
  },
  {
    name: "a carrier behind a first host lends that host no address",
    sightings: domainsAt(MANY, ["mail.*", GOOGLE], { addresses: [ADDRESS] }),
    want: [],
  },
  {
    name: "a host beside a carrier is still known by its name",
    sightings: domainsAt(MANY, ["mx.one.example", GOOGLE], { addresses: [ADDRESS] }),
    want: [["mx.one.example", "dedicated"]],
  },
  { name: "a domain without hosts says nothing", sightings: domainsAt(MANY, []), want: [] },
];

for (const { name, sightings, want } of cases) {
  test(`learning: ${name}`, () => {
    const tally = new MailServerTally((host) => isCommonCarrier(host) || isSharedMailHost(host));
    for (const sighting of sightings) tally.add(sighting);
    assert.deepEqual(tally.learned(), want);
  });
}
