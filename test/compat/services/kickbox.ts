import { KEY, type ShapeCases } from "../compat-world.ts";

const kickbox = (email: string) => `v2/verify?email=${email}&apikey=${KEY}`;

export const kickboxCases: ShapeCases = {
  service: "kickbox",
  cases: [
    {
      name: "a domain that takes mail",
      ask: `v2/verify?email=Jo@Good.example&apikey=${KEY}&timeout=6000`,
      body: {
        result: "unknown",
        reason: "unavailable_smtp",
        role: false,
        free: false,
        disposable: false,
        accept_all: false,
        did_you_mean: null,
        sendex: 0.5,
        email: "jo@good.example",
        user: "jo",
        domain: "good.example",
        success: true,
        message: null,
      },
    },
    {
      name: "syntax",
      ask: kickbox("jo@"),
      body: { result: "undeliverable", reason: "invalid_email", sendex: 0 },
    },
    {
      name: "no mail",
      ask: kickbox("jo@none.example"),
      body: { result: "undeliverable", reason: "invalid_domain" },
    },
    {
      name: "disposable",
      ask: kickbox("jo@bad.example"),
      body: { result: "risky", reason: "low_quality", disposable: true },
    },
    { name: "role", ask: kickbox("info@good.example"), body: { result: "risky", role: true } },
    {
      name: "no DNS answer",
      ask: kickbox("jo@silent.example"),
      body: { result: "unknown", reason: "timeout" },
    },
    {
      name: "typo",
      ask: kickbox("jo@gmial.com"),
      body: { result: "undeliverable", did_you_mean: "jo@gmail.com" },
    },
    { name: "free", ask: kickbox("jo@gmail.com"), body: { free: true } },
    {
      name: "a wrong key in the header of the official clients",
      ask: { url: "v2/verify?email=jo@good.example", headers: { authorization: "token wrong" } },
      status: 403,
      body: { success: false, message: "Invalid API key" },
    },
    {
      name: "the key in that header",
      ask: { url: "v2/verify?email=jo@good.example", headers: { authorization: `token ${KEY}` } },
      body: { success: true },
    },
    {
      name: "no address",
      ask: `v2/verify?apikey=${KEY}`,
      status: 400,
      body: { success: false, message: "Missing parameter: email." },
    },
    {
      name: "another path",
      ask: `v2/other?apikey=${KEY}`,
      status: 404,
      body: { success: false, message: "Not found." },
    },
    {
      name: "the balance",
      ask: `v2/balance?apikey=${KEY}`,
      body: { balance: 999_999_999, success: true, message: null },
    },
  ],
  optimistic: [
    {
      name: "good",
      ask: kickbox("jo@good.example"),
      body: { result: "deliverable", reason: "accepted_email" },
    },
    { name: "no DNS answer", ask: kickbox("jo@silent.example"), body: { result: "unknown" } },
    { name: "role", ask: kickbox("info@good.example"), body: { result: "risky" } },
  ],
};
