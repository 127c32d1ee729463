import { capital } from "../lib/format.ts";
import type { AuditEntry } from "../../http/account/shapes.ts";

type CodeNames = Readonly<Record<string, string>>;

const named = (names: CodeNames, code: string): string =>
  Object.hasOwn(names, code) ? (names[code] ?? code) : code.replaceAll(/[._]/g, " ");

const TIERS: CodeNames = {
  anonymous: "No account",
  free: "Free",
  new_free: "Free, first 24 hours",
  starter: "Starter",
  pro: "Pro",
};

export const tierName = (tier: string): string => named(TIERS, tier);

const REASONS: CodeNames = {
  format: "bad format",
  typo: "misspelt",
  burst: "many new addresses at one new domain",
  abuse: "reported as abuse before",
  bounced: "messages came back before",
  complained: "complained of a message",
  too_often: "too many messages to one mailbox",
  sms_gateway: "turns mail into text messages",
  wave: "far more messages than usual",
  role: "role address",
  relay: "forwarding service",
  free: "free provider",
  fresh_domain: "new domain",
  repeated_mailbox: "same mailbox again",
  unknown: "DNS did not answer",
  caller: "facts of your own",
  allowed: "on the allow list",
  denied: "on the deny list",
  ok: "nothing against it",
};

export const reasonName = (reason: string): string => named(REASONS, reason);

const ACTIONS: CodeNames = {
  "account.promoted": "Made an administrator",
  "account.demoted": "No longer an administrator",
  "account.tier": "Plan changed",
  "account.email": "Email address changed",
  "account.email_asked": "Another email address asked for",
  "account.password": "Password changed",
  "account.reset_link": "Link for a new password made",
  "account.traffic": "Counting of traffic switched",
  "account.log": "Decision log switched",
  "account.access_ended": "Keys, hooks and webhook ended",
  "account.lockout_ended": "Delay after wrong passwords ended",
  "account.token_secret": "New token secret made",
  "session.started": "Signed in",
  "session.delayed": "Wrong passwords",
  "session.ended": "Signed out",
  "session.revoked": "Signed out elsewhere",
  "lists.entry_saved": "Rule made",
  "lists.entry_forgotten": "Rule removed",
  "lists.imported": "Rules imported",
};

export function actionWords({ action, detail }: AuditEntry): string {
  const words = capital(named(ACTIONS, action));
  return detail === "" ? words : `${words}: ${withoutHashes(detail)}`;
}

const HASHED = /^address:[0-9a-f]{32}@(.*)$/;

/** An entry of the operator's rules: addresses are kept as a hash that says nothing to anybody. */
export function entryWords(entry: string): string {
  const domain = HASHED.exec(entry)?.[1];
  if (domain !== undefined) return `an address at ${domain}`;
  if (entry.startsWith("feed:")) return `list ${entry.slice("feed:".length)}`;
  return entry.startsWith("mx:") ? `mail server ${entry.slice("mx:".length)}` : entry;
}

const withoutHashes = (text: string): string =>
  text.replaceAll(/address:[0-9a-f]{32}@[^\s,]+/g, entryWords);

type NamePatterns = readonly (readonly [RegExp, string])[];

const BROWSERS: NamePatterns = [
  [/\bEdg(?:e|A|iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bFirefox\/|\bFxiOS\//, "Firefox"],
  [/\bChrome\/|\bCriOS\//, "Chrome"],
  [/\bSafari\//, "Safari"],
  [/^/, "A browser"],
];

const SYSTEMS: NamePatterns = [
  [/\bAndroid\b/, " on Android"],
  [/\biPhone\b|\biPad\b/, " on iOS"],
  [/\bWindows\b/, " on Windows"],
  [/\bMac OS X\b/, " on macOS"],
  [/\bLinux\b/, " on Linux"],
];

/** "Firefox on Linux" for a User-Agent; a guess, for people to tell their browsers apart. */
export const browserName = (userAgent: string): string =>
  [BROWSERS, SYSTEMS]
    .map((table) => table.find(([pattern]) => pattern.test(userAgent))?.[1] ?? "")
    .join("");
