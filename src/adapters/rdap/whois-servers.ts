/** How to ask one registry over WHOIS (RFC 3912), whose answers have no common form. */
export interface WhoisServer {
  /** Public suffixes it serves, A-labels. */
  readonly suffixes: readonly string[];
  readonly host: string;
  readonly port: number;
  /** What is sent; `%` stands for the domain. */
  readonly query: string;
  /** Groups `year`, `month` (a number or an English name) and `day` of the registration. */
  readonly registered: RegExp;
  /** Matches the answer for a domain that is not registered. */
  readonly absent: RegExp;
}

const WHOIS_PORT = 43;

type Row = Pick<WhoisServer, "registered" | "absent"> & { readonly query?: string };

function at(host: string, suffixes: string, row: Row): WhoisServer {
  return { host, port: WHOIS_PORT, suffixes: suffixes.split(" "), query: "%", ...row };
}

/**
 * Large registries without an RDAP server in the IANA bootstrap whose WHOIS answer names the day of
 * registration. The patterns are anchored to lines.
 */
export const WHOIS_SERVERS: readonly WhoisServer[] = [
  at("whois.cnnic.cn", "cn xn--fiqs8s xn--fiqz9s", {
    registered: /^Registration Time: (?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/m,
    absent: /^No matching record/m,
  }),
  at("whois.jprs.jp", "jp", {
    query: "%/e",
    registered:
      /^(?:[a-z]\. )?\[(?:Created on|Registered Date)\] *(?<year>\d{4})\/(?<month>\d\d)\/(?<day>\d\d)/m,
    absent: /^No match!!/m,
  }),
  at("whois.kr", "kr xn--3e0b707e", {
    registered: /^Registered Date +: (?<year>\d{4})\. (?<month>\d\d)\. (?<day>\d\d)\./m,
    absent: /domain was not found/,
  }),
  at("whois.tcinet.ru", "ru su xn--p1ai", {
    registered: /^created: +(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)T/m,
    absent: /^No entries found/m,
  }),
  at("whois.nic.it", "it", {
    registered: /^Created: +(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/m,
    absent: /^Status: +AVAILABLE/m,
  }),
  at("whois.hkirc.hk", "hk xn--j6w193g", {
    registered: /^Domain Name Commencement Date: (?<day>\d\d)-(?<month>\d\d)-(?<year>\d{4})/m,
    absent: /domain has not been registered/,
  }),
  at("whois.twnic.net.tw", "tw", {
    registered: /^ *Record created on (?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/m,
    absent: /^No Found/m,
  }),
  at("whois.mx", "mx", {
    registered: /^Created On: +(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/m,
    absent: /^Object_Not_Found/m,
  }),
  at("whois.trabis.gov.tr", "tr", {
    registered: /^Created on\.*: (?<year>\d{4})-(?<month>[A-Z][a-z]{2})-(?<day>\d\d)/m,
    absent: /^No match found/m,
  }),
  at("whois.dns.be", "be", {
    registered:
      /^Registered:[ \t]+[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) +(?<day>\d{1,2}) (?<year>\d{4})/m,
    absent: /^Status:[ \t]+AVAILABLE/m,
  }),
  at("whois.iis.se", "se", {
    registered: /^created: +(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/m,
    absent: /^domain "[^"]*" not found/m,
  }),
  at("whois.iis.nu", "nu", {
    registered: /^created: +(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/m,
    absent: /^domain "[^"]*" not found/m,
  }),
  at("whois.rotld.ro", "ro", {
    registered: /^ *Registered On: (?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/m,
    absent: /^% No entries found/m,
  }),
  at("whois.sk-nic.sk", "sk", {
    registered: /^Created: +(?<year>\d{4})-(?<month>\d\d)-(?<day>\d\d)/m,
    absent: /^Domain not found/m,
  }),
];
