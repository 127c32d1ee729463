import type { ShapeCases } from "../compat-world.ts";

export const mailcheckAiCases: ShapeCases = {
  service: "mailcheck-ai",
  cases: [
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
  ],
};
