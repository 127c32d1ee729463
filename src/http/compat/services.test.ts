import { form, json, KEY, testShape } from "../../../test/compat/compat-world.ts";

testShape("kickbox-open", [
  { name: "a disposable domain", ask: "v1/disposable/bad.example", body: { disposable: true } },
  {
    name: "an address, not encoded",
    ask: "v1/disposable/Jo+x@Bad.Example",
    body: { disposable: true },
  },
  {
    name: "an encoded address",
    ask: "v1/disposable/jo%40good.example",
    body: { disposable: false },
  },
  { name: "bad input", ask: "v1/disposable/@@", body: { disposable: false } },
  { name: "no name", ask: "v1/disposable", status: 404, body: { message: "Not found." } },
]);

testShape("debounce-free", [
  { name: "a disposable domain", ask: "?email=bad.example", body: { disposable: "true" } },
  { name: "a careless plus sign", ask: "?email=jo+x@good.example", body: { disposable: "false" } },
  {
    name: "a blank where a plus sign was",
    ask: "?email=jo%20x@bad.example",
    body: { disposable: "true" },
  },
  { name: "no name", ask: "", status: 400, body: { message: "Missing parameter: email." } },
]);

const kickbox = (email: string) => `v2/verify?email=${email}&apikey=${KEY}`;

testShape(
  "kickbox",
  [
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
  [
    {
      name: "good",
      ask: kickbox("jo@good.example"),
      body: { result: "deliverable", reason: "accepted_email" },
    },
    { name: "no DNS answer", ask: kickbox("jo@silent.example"), body: { result: "unknown" } },
    { name: "role", ask: kickbox("info@good.example"), body: { result: "risky" } },
  ],
);

const debounce = (email: string) => `v1/?email=${email}&api=${KEY}`;

testShape(
  "debounce",
  [
    {
      name: "every value is text",
      ask: debounce("jo@gmail.com"),
      body: {
        debounce: {
          email: "jo@gmail.com",
          code: "7",
          role: "false",
          free_email: "true",
          result: "Unknown",
          reason: "Unknown",
          send_transactional: "1",
          did_you_mean: "",
        },
        success: "1",
        balance: "999999999",
      },
    },
    {
      name: "syntax",
      ask: debounce("jo"),
      body: { debounce: { code: "1", result: "Invalid", reason: "Syntax" } },
    },
    {
      name: "disposable",
      ask: debounce("jo@bad.example"),
      body: { debounce: { code: "3", reason: "Disposable" } },
    },
    {
      name: "no mail",
      ask: debounce("jo@none.example"),
      body: { debounce: { code: "6", reason: "Bounce", send_transactional: "0" } },
    },
    {
      name: "trap",
      ask: debounce("trap@good.example"),
      body: { debounce: { code: "2", reason: "Spam-trap" } },
    },
    {
      name: "role",
      ask: debounce("info@good.example"),
      body: { debounce: { code: "8", result: "Risky", reason: "Role" } },
    },
    {
      name: "no DNS answer",
      ask: debounce("jo@silent.example"),
      body: { debounce: { code: "7" } },
    },
    {
      name: "typo",
      ask: debounce("jo@gmial.com"),
      body: { debounce: { did_you_mean: "jo@gmail.com" } },
    },
    {
      name: "a wrong key",
      ask: "v1/?email=a@good.example&api=x",
      status: 401,
      body: { debounce: { error: "Wrong API", code: "0" }, success: "0" },
    },
    { name: "no address", ask: `v1/?api=${KEY}`, status: 400, body: { success: "0" } },
  ],
  [
    {
      name: "good",
      ask: debounce("jo@good.example"),
      body: { debounce: { code: "5", result: "Safe to Send", reason: "Deliverable" } },
    },
  ],
);

testShape("usercheck", [
  {
    name: "an address, raw",
    ask: { url: "email/Jo+x@mail.good.example", headers: { authorization: `Bearer ${KEY}` } },
    body: {
      status: 200,
      email: "Jo+x@mail.good.example",
      normalized_email: "jo@mail.good.example",
      domain: "mail.good.example",
      mx: true,
      mx_records: [{ hostname: "mx.good.example", priority: 1 }],
      mx_providers: [],
      disposable: false,
      public_domain: false,
      relay_domain: false,
      alias: true,
      role_account: false,
      spam: false,
      did_you_mean: null,
      blocklisted: false,
    },
  },
  {
    name: "a domain",
    ask: `domain/good.example?key=${KEY}`,
    body: {
      status: 200,
      domain: "good.example",
      domain_authority: null,
      domain_age_in_days: 33,
      mx: true,
      disposable: false,
    },
  },
  {
    name: "the domain alone is suggested",
    ask: "email/jo@gmial.com",
    body: { did_you_mean: "gmail.com", mx: false },
  },
  {
    name: "no DNS answer is neither yes nor no",
    ask: "email/jo@silent.example",
    body: { mx: null, mx_records: [] },
  },
  {
    name: "syntax",
    ask: "email/jo@",
    status: 400,
    body: { status: 400, error: "The email address is invalid." },
  },
  {
    name: "an address as a domain",
    ask: "domain/jo@good.example",
    status: 400,
    body: { status: 400, error: "The domain is invalid." },
  },
  {
    name: "a wrong key",
    ask: "email/jo@good.example?key=x",
    status: 401,
    body: { status: 401, error: "Unauthorized" },
  },
]);

testShape("mailcheck-ai", [
  {
    name: "an address",
    ask: "email/jo@bad.example",
    body: {
      status: 200,
      email: "jo@bad.example",
      domain: "bad.example",
      mx: true,
      disposable: true,
      public_domain: false,
      alias: false,
      did_you_mean: null,
    },
  },
  {
    name: "a domain",
    ask: "domain/none.example",
    body: { status: 200, domain: "none.example", mx: false, disposable: false },
  },
  { name: "no DNS answer", ask: "domain/silent.example", body: { mx: null } },
  {
    name: "syntax",
    ask: "email/jo",
    status: 400,
    body: { status: 400, error: "The email address is invalid." },
  },
]);

const zerobounce = (email: string) => `v2/validate?api_key=${KEY}&email=${email}&ip_address=`;
const INVALID_KEY = "Invalid API Key or your account ran out of credits";

testShape(
  "zerobounce",
  [
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
  [{ name: "good", ask: zerobounce("jo@good.example"), body: { status: "valid", sub_status: "" } }],
);

const neverbounce = (email: string) => `v4/single/check?key=${KEY}&email=${email}`;

testShape(
  "neverbounce",
  [
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
      name: "another path is 200",
      ask: `v4/jobs/search?key=${KEY}`,
      body: { status: "general_failure", message: "Not found." },
    },
  ],
  [{ name: "good", ask: neverbounce("jo@good.example"), body: { result: "valid" } }],
);

const emailable = (email: string) => `v1/verify?api_key=${KEY}&email=${email}`;

testShape(
  "emailable",
  [
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
  [
    {
      name: "good",
      ask: emailable("jo@good.example"),
      body: { state: "deliverable", reason: "accepted_email", score: 95 },
    },
  ],
);

const abstract = (email: string) => `v1/?api_key=${KEY}&email=${email}`;
const TRUE = { value: true, text: "TRUE" };
const FALSE = { value: false, text: "FALSE" };
const UNKNOWN = { value: null, text: "UNKNOWN" };

testShape(
  "abstract",
  [
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
  [
    {
      name: "good",
      ask: abstract("jo@good.example"),
      body: { deliverability: "DELIVERABLE", is_smtp_valid: UNKNOWN },
    },
  ],
);

const mailgun = (address: string) => `v4/address/validate?address=${address}`;
const basic = (key: string) => ({
  authorization: `Basic ${Buffer.from(`api:${key}`).toString("base64")}`,
});

testShape(
  "mailgun",
  [
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
  [{ name: "good", ask: mailgun("jo@good.example"), body: { result: "deliverable", risk: "low" } }],
);

const reacher = (to_email: unknown) => ({
  url: "v0/check_email",
  ...json({ to_email, proxy: { host: "x", port: 1 } }),
});

testShape(
  "reacher",
  [
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
  [
    {
      name: "good",
      ask: reacher("jo@good.example"),
      body: { is_reachable: "safe", smtp: { can_connect_smtp: true, is_deliverable: true } },
    },
  ],
);

testShape(
  "aftership",
  [
    {
      name: "all fields",
      ask: "v1/jo@gmail.com/verification",
      body: {
        email: "jo@gmail.com",
        reachable: "unknown",
        syntax: { username: "jo", domain: "gmail.com", valid: true },
        smtp: null,
        gravatar: null,
        suggestion: "",
        disposable: false,
        role_account: false,
        free: true,
        has_mx_records: true,
      },
    },
    { name: "syntax is text", ask: "v1/jo/verification", body: "email address syntax is invalid" },
    {
      name: "no mail",
      ask: "v1/jo@none.example/verification",
      body: { reachable: "no", has_mx_records: false },
    },
    {
      name: "disposable",
      ask: "v1/jo@bad.example/verification",
      body: { reachable: "unknown", disposable: true, has_mx_records: false },
    },
    {
      name: "no DNS answer",
      ask: "v1/jo@silent.example/verification",
      body: { reachable: "unknown", has_mx_records: false },
    },
    { name: "typo", ask: "v1/jo@gmial.com/verification", body: { suggestion: "gmail.com" } },
    {
      name: "a local part with a slash",
      ask: "v1/a/b@gmail.com/verification",
      body: { syntax: { username: "a/b" } },
    },
    { name: "another path", ask: "v1/jo@gmail.com", status: 404, body: "Not found." },
  ],
  [
    {
      name: "good",
      ask: "v1/jo@good.example/verification",
      body: {
        reachable: "yes",
        smtp: {
          host_exists: true,
          full_inbox: false,
          catch_all: false,
          deliverable: true,
          disabled: false,
        },
      },
    },
  ],
);

testShape("block-temporary-email", [
  {
    name: "an address",
    ask: "check/email/jo@bad.example",
    body: { status: 200, temporary: true, dns: true, domain: "bad.example" },
  },
  {
    name: "a domain",
    ask: "check/domain/none.example",
    body: { status: 200, temporary: false, dns: false },
  },
  { name: "no DNS answer", ask: "check/domain/silent.example", body: { dns: null } },
  {
    name: "syntax",
    ask: "check/email/jo",
    status: 400,
    body: { status: 400, error: "Invalid email address." },
  },
  {
    name: "a wrong key",
    ask: { url: "check/email/a@b.example", headers: { "x-api-key": "x" } },
    status: 401,
    body: { error: "Invalid API key." },
  },
]);
