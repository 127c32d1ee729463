import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

/** Receivers of docs/feedback.md, each with webhooks as the service documents them. */

const PAGE = readFileSync(new URL("../../../../docs/feedback.md", import.meta.url), "utf8");
const BLOCKS = [...PAGE.matchAll(/```js\n(.*?)```/gs)].map(([, code = ""]) => code);

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
  ["sesBounces", sesBounce("Permanent"), ["jane@example.com", "richard@example.com"]],
  ["sesBounces", sesBounce("Transient"), []],
  ["sesBounces", sns({ notificationType: "Complaint", complaint: {} }), []],
  [
    "postmarkBounces",
    { RecordType: "Bounce", Type: "HardBounce", Email: "john@example.com" },
    ["john@example.com"],
  ],
  ["postmarkBounces", { RecordType: "Bounce", Type: "SoftBounce", Email: "john@example.com" }, []],
  ["postmarkBounces", { RecordType: "Delivery", Recipient: "john@example.com" }, []],
  ["mailgunBounces", mailgun("failed", "permanent"), ["alice@example.com"]],
  ["mailgunBounces", mailgun("failed", "temporary"), []],
  ["mailgunBounces", mailgun("delivered"), []],
  [
    "sendgridBounces",
    [
      { email: "a@example.com", event: "bounce", type: "bounce", status: "5.0.0" },
      { email: "b@example.com", event: "bounce", type: "blocked" },
      { email: "c@example.com", event: "delivered" },
    ],
    ["a@example.com"],
  ],
];

for (const [name, webhook, bounced] of CASES) {
  test(`docs/feedback.md, ${name}: ${JSON.stringify(bounced)}`, async () => {
    const code = BLOCKS.find((block) => block.includes(`function ${name}(`)) ?? assert.fail();
    assert.ok(code.trimEnd().split("\n").length <= 5, "five lines");
    const told: unknown[] = [];
    const gatepost = { feedback: (said: unknown) => Promise.resolve(void told.push(said)) };
    Object.assign(globalThis, { gatepost });
    const url = `data:text/javascript,${encodeURIComponent(code)}`;
    const module = (await import(url)) as Record<string, (body: unknown) => Promise<void>>;
    await module[name]?.(webhook);
    assert.deepEqual(
      told,
      bounced.map((email) => ({ email, outcome: "bounce" })),
    );
  });
}
