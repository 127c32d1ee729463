import { form, type ShapeCases } from "../compat-world.ts";

const mailgun = (address: string) => `v4/address/validate?address=${address}`;
const basic = (key: string) => ({
  authorization: `Basic ${Buffer.from(`api:${key}`).toString("base64")}`,
});

export const mailgunCases: ShapeCases = {
  service: "mailgun",
  cases: [
    {
      name: "nothing is known of the mailbox",
      ask: { url: "v4/address/validate", ...form("address=jo@good.example") },
      body: {
        address: "jo@good.example",
        did_you_mean: null,
        is_disposable_address: false,
        is_role_address: false,
        reason: [],
        result: "unknown",
        risk: "unknown",
      },
    },
    {
      name: "syntax",
      ask: mailgun("jo"),
      body: {
        result: "undeliverable",
        risk: "high",
        reason: ["malformed address; missing @ sign"],
      },
    },
    {
      name: "no mail",
      ask: mailgun("jo@none.example"),
      body: { result: "undeliverable", risk: "high", reason: ["no_mx"] },
    },
    {
      name: "disposable",
      ask: mailgun("jo@bad.example"),
      body: { result: "do_not_send", risk: "high", reason: ["mailbox_is_disposable_address"] },
    },
    {
      name: "role",
      ask: mailgun("info@good.example"),
      body: { result: "unknown", risk: "medium", reason: ["mailbox_is_role_address"] },
    },
    {
      name: "no DNS answer",
      ask: mailgun("jo@silent.example"),
      body: { result: "unknown", risk: "unknown" },
    },
    { name: "typo", ask: mailgun("jo@gmial.com"), body: { did_you_mean: "jo@gmail.com" } },
    {
      name: "sub-address",
      ask: mailgun("jo+x@good.example"),
      body: { root_address: "jo@good.example" },
    },
    {
      name: "a wrong key",
      ask: { url: mailgun("jo@good.example"), headers: basic("wrong") },
      status: 401,
      body: "Forbidden",
    },
    {
      name: "no address",
      ask: "v4/address/validate",
      status: 400,
      body: { message: "'address' parameter is required" },
    },
  ],
  optimistic: [
    { name: "good", ask: mailgun("jo@good.example"), body: { result: "deliverable", risk: "low" } },
  ],
};
