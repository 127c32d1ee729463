import { readTrustedProxies, clientAddress } from "../../src/http/client-address.ts";
import { decodeText, isLatin1 } from "../../src/http/decode.ts";
import { bulkText } from "../../src/http/params.ts";
import { isAllowedFor } from "../../src/http/hosts.ts";
import { readListLines } from "../../src/lists/rules/rules.ts";
import { readEntry, trimEntry } from "../../src/core/address/address.ts";
import { splitText } from "../../src/core/batch/batch-chunk.ts";
import { finish } from "./finish.ts";
import { csvLine, entryNote } from "../../src/core/batch/result-cells.ts";
import { isKey } from "../../src/core/checks/dkim/dkim.ts";
import { parsePolicyRecord } from "../../src/core/checks/dmarc/dmarc.ts";
import { mailboxInSpf } from "../../src/core/checks/inbox-provider.ts";
import { parseSpf } from "../../src/core/checks/spf/spf.ts";
import { parseTagList, shownText } from "../../src/core/checks/tag-list.ts";
import { readDomainAnswer, retryAfterMs } from "../../src/check/rdap/domain-answer.ts";
import { parsePolicyText } from "../../src/core/policy/parse-policy.ts";

/** What reads a text that anybody may send, and a text that keeps it busy, as long as asked for. */
type HostileText = readonly [
  kind: string,
  read: (text: string) => unknown,
  make: (size: number) => string,
];

const run =
  (unit: string, before = "", after = "") =>
  (size: number): string =>
    before + unit.repeat(size / unit.length) + after;

const proxies = readTrustedProxies("127.0.0.1");
const address = (text: string): unknown => [
  readEntry(text, "either"),
  entryNote(text, "addresses"),
];
const client = (text: string): unknown => clientAddress("127.0.0.1", text, proxies);
const lines = (text: string): unknown => readListLines(text, "deny", () => "");
const policy = (text: string): unknown => parsePolicyText(text, { hasDomainAge: true });
const form = (text: string): unknown =>
  decodeText(Buffer.from(text), { kind: "form", type: "", wanted: new Set(["email"]) });
const batch = (text: string): unknown => finish(splitText(text, 1_000) as never);

const registered = (text: string): unknown => readDomainAnswer(Buffer.from(text), "a.example");

export const HOSTILE_TEXTS: readonly HostileText[] = [
  ["blanks in an address", address, run(" ", "a", "b@good.test")],
  ["at signs", address, run("@")],
  ["full-width dots", address, run("\uff0e", "jo@")],
  ["labels of a domain", address, run("a.", "jo@", "test")],
  ["quotes of an address", address, run('\\"', '"', '"@good.test')],
  ["marks at the end of an address", address, run(",;", "jo@good.test", "x")],
  ["blanks at both ends", trimEntry, run(" ", "", "a")],
  ["blanks of other widths", trimEntry, run("\u2003", "a", "a")],
  ["short entries", batch, run("a ")],
  ["addresses that differ in case", batch, run("JO@good.test,")],
  ["tags of a DKIM key", isKey, run("a=b;", "v=DKIM1;")],
  ["blanks of a DKIM key", isKey, run(" ", "v=DKIM1; p=A", "A==")],
  ["padding of a DKIM key", isKey, run("=", "v=DKIM1; p=", "A")],
  ["terms of SPF", parseSpf, run(" a", "v=spf1")],
  ["blanks of SPF", parseSpf, run(" ", "v=spf1")],
  ["slashes of SPF", parseSpf, run("/1", "v=spf1 a")],
  ["colons of SPF", parseSpf, run(":", "v=spf1 ip6")],
  ["macros", parseSpf, run("%{d1r-.}", "v=spf1 exists:")],
  ["open macros", parseSpf, run("%{", "v=spf1 exists:")],
  ["macros of a redirect", parseSpf, run("%{d}", "v=spf1 redirect=")],
  ["escapes of a modifier", parseSpf, run("%%", "v=spf1 x=")],
  ["modifiers of SPF", parseSpf, run(" exp=a.b", "v=spf1")],
  ["includes of SPF", mailboxInSpf, run(" include:a", "v=spf1")],
  ["tags of DMARC", parsePolicyRecord, run("p=none;", "v=DMARC1;")],
  ["addresses of DMARC", parsePolicyRecord, run("mailto:a@b!1,", "v=DMARC1; p=none; rua=")],
  ["blanks of DMARC", parsePolicyRecord, run(" ", "v=DMARC1; p", "=none")],
  [
    "events of a registry",
    registered,
    run(
      '{"eventAction":"registration","eventDate":"2020-01-01"},',
      '{"objectClassName":"domain","events":[',
      "{}]}",
    ),
  ],
  ["open arrays of a registry", registered, run("[", '{"events":')],
  ["a date of a registry", (text) => retryAfterMs(text, 0), run("0")],
  ["tags", parseTagList, run("a =b ;")],
  ["controls of a record", shownText, run("\u0001")],
  ["hops of a proxy", client, run("127.0.0.1, ")],
  ["blanks between hops", client, run(" ", "192.0.2.1,", "127.0.0.1")],
  ["colons of a hop", client, run("1:")],
  ["brackets of a hop", client, run("[")],
  [
    "a host in the target",
    (url) => isAllowedFor({ headers: {}, url }, () => true),
    run("a+", "", "://x"),
  ],
  ["semicolons of a content type", isLatin1, run("; charset", "text/plain")],
  ["blanks of a content type", isLatin1, run(" ", "text/plain;", "charset=latin1")],
  ["members of a form", form, run("a=b&")],
  ["escapes of a list", bulkText, run("%2")],
  ["blanks of a rule", lines, run(" ", "a.example", "until 2030-01-01")],
  ["words of a rule", lines, run("until ", "deny a.example ")],
  ["remarks of a rule", lines, run(" #", "deny a.example", "\u2028a")],
  ["rules", lines, run("deny a.example\n")],
  ["open arrays of a policy", policy, run("[")],
  [
    "rules of a policy",
    policy,
    run('{"when":{"free":true},"then":"accept"},', '{"rules":[', "{}]}"),
  ],
  ["a cell of blanks", (text) => csvLine([text]), run(" \u200b", "", "a")],
  ["a cell of digits", (text) => csvLine([text]), run("1 ", "+", "a")],
  ["a cell of quotes", (text) => csvLine([text]), run('"')],
];
