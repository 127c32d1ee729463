import { json, KEY, type ShapeCases } from "../compat-world.ts";

const reacher = (to_email: unknown) => ({
  url: "v0/check_email",
  ...json({ to_email, proxy: { host: "x", port: 1 } }),
});

export const reacherCases: ShapeCases = {
  service: "reacher",
  cases: [
    {
      name: "all fields",
      ask: reacher("jo+x@gmail.com"),
      body: {
        input: "jo+x@gmail.com",
        is_reachable: "unknown",
        misc: {
          is_disposable: false,
          is_role_account: false,
          is_b2c: true,
          gravatar_url: null,
          haveibeenpwned: null,
        },
        mx: { accepts_mail: true, records: ["gmail-smtp-in.l.google.com."] },
        smtp: {
          can_connect_smtp: false,
          has_full_inbox: false,
          is_catch_all: false,
          is_deliverable: false,
          is_disabled: false,
        },
        syntax: {
          address: "jo+x@gmail.com",
          domain: "gmail.com",
          is_valid_syntax: true,
          username: "jo+x",
          normalized_email: "jo@gmail.com",
          suggestion: null,
        },
        debug: {
          backend_name: "gatepost",
          start_time: "2026-11-22T08:00:00.000Z",
          duration: { secs: 0, nanos: 0 },
        },
      },
    },
    {
      name: "syntax",
      ask: reacher("jo"),
      body: {
        is_reachable: "invalid",
        syntax: { is_valid_syntax: false, address: null, domain: "", username: "" },
      },
    },
    {
      name: "no mail",
      ask: reacher("jo@none.example"),
      body: { is_reachable: "invalid", mx: { accepts_mail: false, records: [] } },
    },
    {
      name: "disposable",
      ask: reacher("jo@bad.example"),
      body: { is_reachable: "risky", misc: { is_disposable: true } },
    },
    {
      name: "role",
      ask: reacher("info@good.example"),
      body: { is_reachable: "risky", misc: { is_role_account: true } },
    },
    {
      name: "no DNS answer",
      ask: reacher("jo@silent.example"),
      body: {
        is_reachable: "unknown",
        mx: { error: { type: "ResolveError", message: "DNS did not answer." } },
      },
    },
    {
      name: "typo",
      ask: reacher("jo@gmial.com"),
      body: { syntax: { suggestion: "jo@gmail.com" } },
    },
    {
      name: "no address",
      ask: { url: "v1/check_email", ...json({}) },
      status: 400,
      body: { error: "to_email field is required." },
    },
    {
      name: "the key as it is in Authorization",
      ask: {
        ...reacher("jo@bad.example"),
        headers: { "content-type": "application/json", authorization: KEY },
      },
      body: { is_reachable: "risky" },
    },
    {
      name: "the key as Bearer",
      ask: {
        ...reacher("jo@bad.example"),
        headers: { "content-type": "application/json", authorization: `Bearer ${KEY}` },
      },
      body: { is_reachable: "risky" },
    },
    {
      name: "a wrong secret",
      ask: {
        url: "v1/check_email",
        method: "POST",
        headers: { "content-type": "application/json", "x-reacher-secret": "x" },
        payload: "{}",
      },
      status: 400,
      body: 'Invalid request header "x-reacher-secret"',
    },
    { name: "GET", ask: "v1/check_email", status: 405, body: { error: "Method not allowed." } },
  ],
  optimistic: [
    {
      name: "good",
      ask: reacher("jo@good.example"),
      body: { is_reachable: "safe", smtp: { can_connect_smtp: true, is_deliverable: true } },
    },
  ],
};
