import { KEY, type ShapeCases } from "../compat-world.ts";

export const usercheckCases: ShapeCases = {
  service: "usercheck",
  cases: [
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
  ],
};
