import { missingParameter } from "../../base/refusals.ts";
import type { ExplainOne } from "../../check/explain.ts";
import { component, orNull, Type } from "../../core/json-schema.ts";
import { ListBehind, SAID_BY } from "../../core/validate/explain.ts";
import { exampleAddress, json, KEY_NEEDED, type Operation } from "../operation.ts";
import { JSON_TYPE, type Route } from "../route.ts";

/** GET /api/explain/{entry}: explains the verdict on an entry; needs a key, costs one unit. */
export const explainRoute = (explain: ExplainOne): Route => ({
  family: "explain",
  methods: ["GET"],
  body: "params",
  parameters: new Set(["entry"]),
  charges: "units",
  async handle({ path, params, admitted }) {
    // A local part may hold "/": no suffix is known here.
    const text = path.join("/") || (params.entry("entry", "either") ?? "");
    if (text === "") throw missingParameter("entry");
    const { body, paidBy } = await explain(admitted, text);
    return { type: JSON_TYPE, body, paidBy, entry: text };
  },
});

const Explained = Type.Object({
  signal: Type.String(),
  weight: Type.Number({ minimum: 0, maximum: 1, description: "As it counted for this entry." }),
  means: Type.String(),
  matched: orNull(Type.String(), "The listed name, mail host, word or provider that was matched."),
  by: Type.Enum(SAID_BY),
  lists: Type.Array(ListBehind),
});

const text = (description: string) => Type.Optional(Type.String({ description }));

const Explanation = Type.Object({
  result: component("Result"),
  code: text("Why the format is bad; absent when it is good."),
  message: text("The same for people."),
  did_you_mean: text("The entry that was meant by one of bad format."),
  explanation: Type.Array(Explained),
  data_version: Type.Integer({ description: "Grows when the data changes." }),
});

const EXAMPLE = {
  result: exampleAddress("mailinator.com", {
    disposable: true,
    confidence: 100,
    signals: ["blacklist_exact"],
  }),
  explanation: [
    {
      signal: "blacklist_exact",
      weight: 1,
      means: "The domain is on a curated list.",
      matched: "mailinator.com",
      by: "lists",
      lists: [{ id: "disposable", curated: true, since: null, fetched_at: null }],
    },
  ],
  data_version: 1,
};

export const EXPLAIN: Operation = {
  id: "explainVerdict",
  at: "GET /api/explain/{entry}",
  summary: "Explain a verdict",
  about: "Needs a key; costs one unit. An entry with an at sign is an address.",
  tag: "checks",
  key: "needed",
  path: { entry: Type.String({ description: "Percent-encoded.", example: "ada@mailinator.com" }) },
  answers: json("The result, and each of its signals explained.", Explanation, EXAMPLE),
  refusals: { ...KEY_NEEDED, 400: ["No entry.", missingParameter("entry")] },
};
