import type { ShapeCases } from "../compat-world.ts";

export const aftershipCases: ShapeCases = {
  service: "aftership",
  cases: [
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
  optimistic: [
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
};
