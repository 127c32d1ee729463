import type { ShapeCases } from "../compat-world.ts";

export const kickboxOpenCases: ShapeCases = {
  service: "kickbox-open",
  cases: [
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
  ],
};
