import { form, json, KEY, type ShapeCases } from "../compat-world.ts";

const neverbounce = (email: string) => `v4/single/check?key=${KEY}&email=${email}`;

export const neverbounceCases: ShapeCases = {
  service: "neverbounce",
  cases: [
    {
      name: "a form, with everything",
      ask: {
        url: "v4.2/single/check",
        ...form(`key=${KEY}&email=jo+x@mail.good.example&address_info=1&credits_info=1`),
      },
      body: {
        status: "success",
        result: "unknown",
        flags: ["has_dns", "has_dns_mx", "contains_alias", "contains_subdomain"],
        suggested_correction: "",
        retry_token: "",
        execution_time: 0,
        address_info: {
          original_email: "jo+x@mail.good.example",
          normalized_email: "jo@mail.good.example",
          addr: "jo",
          alias: "x",
          host: "mail.good.example",
          fqdn: "good.example",
          domain: "good",
          subdomain: "mail",
          tld: "example",
        },
        credits_info: {
          paid_credits_used: 0,
          free_credits_used: 1,
          paid_credits_remaining: 0,
          free_credits_remaining: 999_999_999,
        },
      },
    },
    {
      name: "JSON, with numbers",
      ask: {
        url: "v4.1/single/check",
        ...json({ key: KEY, email: "jo@bad.example", address_info: 0, timeout: 5 }),
      },
      body: { result: "disposable", flags: ["has_dns", "has_dns_mx", "disposable_email"] },
    },
    { name: "syntax", ask: neverbounce("jo@"), body: { result: "invalid", flags: ["bad_syntax"] } },
    {
      name: "no mail",
      ask: neverbounce("jo@none.example"),
      body: { result: "invalid", flags: ["bad_dns"] },
    },
    {
      name: "role",
      ask: neverbounce("info@good.example"),
      body: { result: "unknown", flags: ["has_dns", "has_dns_mx", "role_account"] },
    },
    {
      name: "no DNS answer",
      ask: neverbounce("jo@silent.example"),
      body: { result: "unknown", flags: ["temporary_dns_error"] },
    },
    {
      name: "typo",
      ask: neverbounce("jo@gmial.com"),
      body: { suggested_correction: "jo@gmail.com" },
    },
    {
      name: "a wrong key is 200",
      ask: "v4/single/check?key=x&email=a@b.example",
      body: { status: "auth_failure", message: "Invalid API key.", execution_time: 0 },
    },
    {
      name: "no address is 200",
      ask: `v4/single/check?key=${KEY}`,
      body: { status: "general_failure", message: "Missing required parameter 'email'" },
    },
    {
      name: "broken JSON is 200",
      ask: {
        url: "v4/single/check",
        method: "POST",
        headers: { "content-type": "application/json" },
        payload: "{",
      },
      body: { status: "general_failure" },
    },
    {
      name: "a GET with a JSON body, as official clients send it",
      ask: {
        url: "v4.2/single/check",
        ...json({ key: KEY, email: "jo@bad.example" }),
        method: "GET",
      },
      body: { status: "success" },
    },
    {
      name: "a JSON body that calls itself a form",
      ask: {
        url: "v4.2/single/check",
        ...form(JSON.stringify({ key: KEY, email: "jo@good.example" })),
      },
      body: { status: "success" },
    },
    {
      name: "a JSON body of another type",
      ask: {
        url: "v4.2/single/check",
        method: "POST",
        headers: { "content-type": "application/octet-stream" },
        payload: JSON.stringify({ key: KEY, email: "jo@good.example" }),
      },
      body: { status: "success" },
    },
    {
      name: "the account",
      ask: `v4.2/account/info?key=${KEY}`,
      body: {
        status: "success",
        credits_info: {
          paid_credits_used: 0,
          free_credits_used: 0,
          paid_credits_remaining: 0,
          free_credits_remaining: 999_999_999,
        },
        job_counts: { completed: 0, under_review: 0, queued: 0, processing: 0 },
      },
    },
    {
      name: "the account of a wrong key is 200",
      ask: "v4.2/account/info?key=x",
      body: { status: "auth_failure" },
    },
    {
      name: "another path is 200",
      ask: `v4/jobs/search?key=${KEY}`,
      body: { status: "general_failure", message: "Not found." },
    },
  ],
  optimistic: [{ name: "good", ask: neverbounce("jo@good.example"), body: { result: "valid" } }],
};
