import { KEY, type ShapeCases } from "../compat-world.ts";

const abstract = (email: string) => `v1/?api_key=${KEY}&email=${email}`;
const TRUE = { value: true, text: "TRUE" };
const FALSE = { value: false, text: "FALSE" };
const UNKNOWN = { value: null, text: "UNKNOWN" };

export const abstractCases: ShapeCases = {
  service: "abstract",
  cases: [
    {
      name: "what was not tried is unknown",
      ask: abstract("jo@gmail.com"),
      body: {
        email: "jo@gmail.com",
        autocorrect: "",
        deliverability: "UNKNOWN",
        quality_score: "0.50",
        is_valid_format: TRUE,
        is_free_email: TRUE,
        is_disposable_email: FALSE,
        is_role_email: FALSE,
        is_catchall_email: UNKNOWN,
        is_mx_found: TRUE,
        is_smtp_valid: UNKNOWN,
      },
    },
    {
      name: "syntax: everything else is false",
      ask: abstract("jo"),
      body: {
        deliverability: "UNDELIVERABLE",
        is_valid_format: FALSE,
        is_mx_found: FALSE,
        is_smtp_valid: FALSE,
        is_catchall_email: FALSE,
      },
    },
    {
      name: "no mail",
      ask: abstract("jo@none.example"),
      body: { deliverability: "UNDELIVERABLE", is_mx_found: FALSE },
    },
    {
      name: "no DNS answer",
      ask: abstract("jo@silent.example"),
      body: { deliverability: "UNKNOWN", is_mx_found: UNKNOWN },
    },
    {
      name: "disposable",
      ask: abstract("jo@bad.example"),
      body: { deliverability: "UNKNOWN", is_disposable_email: TRUE },
    },
    { name: "typo", ask: abstract("jo@gmial.com"), body: { autocorrect: "jo@gmail.com" } },
    {
      name: "typo, not wanted",
      ask: `${abstract("jo@gmial.com")}&auto_correct=false`,
      body: { autocorrect: "" },
    },
    {
      name: "a wrong key",
      ask: "v1/?api_key=x&email=jo@gmail.com",
      status: 401,
      body: {
        error: { message: "Invalid API key provided.", code: "unauthorized", details: null },
      },
    },
    {
      name: "no address",
      ask: `v1/?api_key=${KEY}`,
      status: 400,
      body: { error: { code: "validation_error" } },
    },
  ],
  optimistic: [
    {
      name: "good",
      ask: abstract("jo@good.example"),
      body: { deliverability: "DELIVERABLE", is_smtp_valid: UNKNOWN },
    },
  ],
};
