import { json, KEY, type ShapeCases } from "../compat-world.ts";

const zerobounce = (email: string) => `v2/validate?api_key=${KEY}&email=${email}&ip_address=`;
const INVALID_KEY = "Invalid API Key or your account ran out of credits";

export const zerobounceCases: ShapeCases = {
  service: "zerobounce",
  cases: [
    {
      name: "text and booleans as the original mixes them",
      ask: zerobounce("jo@good.example"),
      body: {
        address: "jo@good.example",
        status: "unknown",
        sub_status: "",
        free_email: false,
        did_you_mean: null,
        account: "jo",
        domain: "good.example",
        domain_age_days: "33",
        smtp_provider: "",
        mx_found: "true",
        mx_record: "mx.good.example",
        firstname: null,
        lastname: null,
        gender: null,
        country: null,
        region: null,
        city: null,
        zipcode: null,
        processed_at: "2026-11-22 08:00:00.000",
      },
    },
    {
      name: "syntax",
      ask: zerobounce("jo"),
      body: { status: "invalid", sub_status: "failed_syntax_check" },
    },
    {
      name: "typo",
      ask: zerobounce("jo@gmial.com"),
      body: { status: "invalid", sub_status: "possible_typo", did_you_mean: "jo@gmail.com" },
    },
    {
      name: "no mail",
      ask: zerobounce("jo@none.example"),
      body: { status: "invalid", sub_status: "no_dns_entries", mx_found: "false", mx_record: null },
    },
    {
      name: "null MX",
      ask: zerobounce("jo@null.example"),
      body: { status: "invalid", sub_status: "does_not_accept_mail" },
    },
    {
      name: "disposable",
      ask: zerobounce("jo@bad.example"),
      body: { status: "do_not_mail", sub_status: "disposable" },
    },
    {
      name: "trap",
      ask: zerobounce("trap@good.example"),
      body: { status: "spamtrap", sub_status: "" },
    },
    {
      name: "role",
      ask: zerobounce("info@good.example"),
      body: { status: "do_not_mail", sub_status: "role_based" },
    },
    {
      name: "no DNS answer",
      ask: zerobounce("jo@silent.example"),
      body: { status: "unknown", sub_status: "mail_server_temporary_error" },
    },
    {
      name: "provider",
      ask: zerobounce("jo@gmail.com"),
      body: { smtp_provider: "google", free_email: true },
    },
    {
      name: "a wrong key is 200",
      ask: "v2/validate?api_key=x&email=jo@good.example",
      body: { error: INVALID_KEY },
    },
    {
      name: "no address",
      ask: `v2/validate?api_key=${KEY}`,
      status: 400,
      body: { error: "Missing parameter: email." },
    },
    { name: "credits", ask: `v2/getcredits?api_key=${KEY}`, body: { Credits: "999999999" } },
    {
      name: "use of the API, which the service counts elsewhere",
      ask: `v2/getapiusage?api_key=${KEY}&start_date=2026-11-01&end_date=2026-11-30`,
      body: { total: 0, status_valid: 0, start_date: "2026-11-01", end_date: "2026-11-30" },
    },
    { name: "credits of a wrong key", ask: "v2/getcredits?api_key=x", body: { Credits: "-1" } },
    {
      name: "a batch",
      ask: {
        url: "v2/validatebatch",
        ...json({
          api_key: KEY,
          email_batch: [
            { email_address: "jo@bad.example", ip_address: null },
            { email_address: 1 },
          ],
        }),
      },
      body: { errors: [{ error: "Missing email_address.", email_address: "" }] },
    },
    {
      name: "a batch as the official npm client sends it",
      ask: {
        url: `v2/validatebatch?api_key=${KEY}`,
        method: "POST",
        headers: { "content-type": "text/plain;charset=UTF-8" },
        payload: JSON.stringify({ email_batch: [{}] }),
      },
      body: { email_batch: [], errors: [{ error: "Missing email_address.", email_address: "" }] },
    },
    {
      name: "a batch with a wrong key",
      ask: { url: "v2/validatebatch", ...json({ api_key: "x", email_batch: [] }) },
      body: { email_batch: [], errors: [{ error: INVALID_KEY, email_address: "all" }] },
    },
    {
      name: "a batch that is too long",
      ask: {
        url: "v2/validatebatch",
        ...json({ api_key: KEY, email_batch: Array.from({ length: 201 }, () => ({})) }),
      },
      status: 400,
      body: {
        email_batch: [],
        errors: [{ error: "At most 200 addresses in a batch.", email_address: "all" }],
      },
    },
  ],
  optimistic: [
    { name: "good", ask: zerobounce("jo@good.example"), body: { status: "valid", sub_status: "" } },
  ],
};
