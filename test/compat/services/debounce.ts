import { KEY, type ShapeCases } from "../compat-world.ts";

const debounce = (email: string) => `v1/?email=${email}&api=${KEY}`;

export const debounceCases: ShapeCases = {
  service: "debounce",
  cases: [
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
  optimistic: [
    {
      name: "good",
      ask: debounce("jo@good.example"),
      body: { debounce: { code: "5", result: "Safe to Send", reason: "Deliverable" } },
    },
  ],
};
