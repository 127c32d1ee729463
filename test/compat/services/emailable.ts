import { KEY, type ShapeCases } from "../compat-world.ts";

const emailable = (email: string) => `v1/verify?api_key=${KEY}&email=${email}`;

export const emailableCases: ShapeCases = {
  service: "emailable",
  cases: [
    {
      name: "all fields",
      ask: {
        url: "v1/verify",
        headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
        method: "POST",
        payload: '{"email":"john.smith+a@gmail.com","smtp":true}',
      },
      body: {
        accept_all: null,
        did_you_mean: null,
        disposable: false,
        domain: "gmail.com",
        duration: 0,
        email: "john.smith+a@gmail.com",
        first_name: null,
        free: true,
        full_name: null,
        gender: null,
        last_name: null,
        mailbox_full: false,
        mx_record: "gmail-smtp-in.l.google.com",
        no_reply: false,
        reason: "unavailable_smtp",
        role: false,
        score: 50,
        smtp_provider: "google",
        state: "unknown",
        tag: "a",
        user: "john.smith+a",
      },
    },
    {
      name: "syntax",
      ask: emailable("jo"),
      body: { state: "undeliverable", reason: "invalid_email", score: 0 },
    },
    {
      name: "no mail",
      ask: emailable("jo@none.example"),
      body: { state: "undeliverable", reason: "invalid_domain" },
    },
    {
      name: "disposable",
      ask: emailable("jo@bad.example"),
      body: { state: "risky", reason: "low_quality", disposable: true },
    },
    { name: "role", ask: emailable("info@good.example"), body: { state: "risky", role: true } },
    {
      name: "no DNS answer",
      ask: emailable("jo@silent.example"),
      body: { state: "unknown", reason: "timeout" },
    },
    { name: "no-reply", ask: emailable("no-reply@good.example"), body: { no_reply: true } },
    { name: "typo", ask: emailable("jo@gmial.com"), body: { did_you_mean: "jo@gmail.com" } },
    {
      name: "a wrong key",
      ask: "v1/verify?api_key=x&email=jo@good.example",
      status: 403,
      body: { message: "Invalid API key." },
    },
    {
      name: "no address",
      ask: `v1/verify?api_key=${KEY}`,
      status: 400,
      body: { message: "Missing parameter: email." },
    },
    { name: "credits", ask: `v1/account?api_key=${KEY}`, body: { available_credits: 999_999_999 } },
  ],
  optimistic: [
    {
      name: "good",
      ask: emailable("jo@good.example"),
      body: { state: "deliverable", reason: "accepted_email", score: 95 },
    },
  ],
};
