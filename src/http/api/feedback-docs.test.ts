import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

/** Receivers of docs/guides/before-you-send.md, each with webhooks as the service documents them. */

const PAGE = readFileSync(
  new URL("../../../../docs/guides/before-you-send.md", import.meta.url),
  "utf8",
);
const BLOCKS = [...PAGE.matchAll(/```js\n(.*?)```/gs)].map(([, code = ""]) => code);

const blockOf = (name: string): string =>
  BLOCKS.find((block) => block.includes(`function ${name}(`)) ?? assert.fail(name);

const sns = (message: object) => ({ Type: "Notification", Message: JSON.stringify(message) });

const sesBounce = (bounceType: string) =>
  sns({
    notificationType: "Bounce",
    bounce: {
      bounceType,
      bounceSubType: "General",
      bouncedRecipients: [
        { emailAddress: "jane@example.com", status: "5.1.1", action: "failed" },
        { emailAddress: "richard@example.com" },
      ],
    },
    mail: { destination: ["jane@example.com", "mary@example.com", "richard@example.com"] },
  });

const mailgun = (event: string, severity?: string) => ({
  signature: { token: "x", timestamp: "1521233195", signature: "y" },
  "event-data": { event, severity, recipient: "alice@example.com", reason: "bounce" },
});

const CASES: readonly (readonly [name: string, webhook: unknown, bounced: readonly string[]])[] = [
  ["sesFeedback", sesBounce("Permanent"), ["jane@example.com", "richard@example.com"]],
  ["sesFeedback", sesBounce("Transient"), []],
  ["sesFeedback", sns({ notificationType: "Delivery" }), []],
  [
    "postmarkFeedback",
    { RecordType: "Bounce", Type: "HardBounce", Email: "john@example.com" },
    ["john@example.com"],
  ],
  ["postmarkFeedback", { RecordType: "Bounce", Type: "SoftBounce", Email: "john@example.com" }, []],
  ["postmarkFeedback", { RecordType: "Delivery", Recipient: "john@example.com" }, []],
  ["mailgunFeedback", mailgun("failed", "permanent"), ["alice@example.com"]],
  ["mailgunFeedback", mailgun("failed", "temporary"), []],
  ["mailgunFeedback", mailgun("delivered"), []],
  [
    "sendgridFeedback",
    [
      { email: "a@example.com", event: "bounce", type: "bounce", status: "5.0.0" },
      { email: "b@example.com", event: "bounce", type: "blocked" },
      { email: "c@example.com", event: "delivered" },
    ],
    ["a@example.com"],
  ],
  [
    "resendFeedback",
    { type: "email.bounced", data: { to: ["d@example.com"], bounce: { type: "Permanent" } } },
    ["d@example.com"],
  ],
  [
    "resendFeedback",
    { type: "email.bounced", data: { to: ["d@example.com"], bounce: { type: "Transient" } } },
    [],
  ],
  ["resendFeedback", { type: "email.sent", data: { to: ["d@example.com"] } }, []],
];

const COMPLAINTS: readonly (readonly [name: string, webhook: unknown, email: string])[] = [
  [
    "sesFeedback",
    sns({
      notificationType: "Complaint",
      complaint: { complainedRecipients: [{ emailAddress: "jane@example.com" }] },
    }),
    "jane@example.com",
  ],
  ["postmarkFeedback", { RecordType: "SpamComplaint", Email: "jo@example.com" }, "jo@example.com"],
  ["mailgunFeedback", mailgun("complained"), "alice@example.com"],
  ["sendgridFeedback", [{ email: "a@example.com", event: "spamreport" }], "a@example.com"],
  [
    "resendFeedback",
    { type: "email.complained", data: { to: ["d@example.com"] } },
    "d@example.com",
  ],
];

const ALL = [
  ...CASES.map(([name, webhook, emails]) => ({ name, webhook, emails, outcome: "bounce" })),
  ...COMPLAINTS.map(([name, webhook, email]) => ({
    name,
    webhook,
    emails: [email],
    outcome: "complaint",
  })),
];

for (const { name, webhook, emails: bounced, outcome } of ALL) {
  test(`docs/guides/before-you-send.md, ${name}: ${JSON.stringify(bounced)}`, async () => {
    const [code, tell] = [blockOf(name), blockOf("tell")];
    assert.ok(code.trimEnd().split("\n").length <= 15, "fifteen lines");
    const told: unknown[] = [];
    const gatepost = { feedback: (said: unknown) => Promise.resolve(void told.push(said)) };
    Object.assign(globalThis, { gatepost });
    const url = `data:text/javascript,${encodeURIComponent(tell + code)}`;
    const module = (await import(url)) as Record<string, (body: unknown) => Promise<void>>;
    await module[name]?.(webhook);
    assert.deepEqual(
      told,
      bounced.map((email) => ({ email, outcome })),
    );
  });
}
