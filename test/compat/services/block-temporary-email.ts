import type { ShapeCases } from "../compat-world.ts";

export const blockTemporaryEmailCases: ShapeCases = {
  service: "block-temporary-email",
  cases: [
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
  ],
};
