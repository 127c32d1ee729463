import type { ShapeCases } from "../compat-world.ts";

export const debounceFreeCases: ShapeCases = {
  service: "debounce-free",
  cases: [
    { name: "a disposable domain", ask: "?email=bad.example", body: { disposable: "true" } },
    {
      name: "a careless plus sign",
      ask: "?email=jo+x@good.example",
      body: { disposable: "false" },
    },
    {
      name: "a blank where a plus sign was",
      ask: "?email=jo%20x@bad.example",
      body: { disposable: "true" },
    },
    { name: "no name", ask: "", status: 400, body: { message: "Missing parameter: email." } },
  ],
};
