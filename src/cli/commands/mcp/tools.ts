import { FEATURES } from "../../../core/checks/registry.ts";
import { type Described, type Schema, strict, Type } from "../../../core/json-schema.ts";
import type { Backend } from "./backend.ts";

/** Entries of `check_list`: what a server checks in one answer. */
const LIST_MAX = 100;
const ENTRY_MAX_CHARACTERS = 1_000;

export interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Schema;
  readonly changes: boolean;
  readonly call: (input: unknown, backend: Backend) => Promise<object>;
}

const text = (description: string): Schema<string> =>
  Type.String({ minLength: 1, maxLength: ENTRY_MAX_CHARACTERS, description });

const Entry = text("An email address or a domain.");

/** Every tool that agents may call. */
export const TOOLS: readonly Tool[] = [
  tool(
    {
      name: "check",
      title: "Check an address or domain",
      description:
        "Says whether the format is valid, whether mail can be received (dns), whether it is disposable, and why (signals). " +
        "dns is false with the signal dns_indeterminate when DNS did not answer: that is not a no. Mailboxes are not probed.",
    },
    Type.Object(
      {
        entry: Entry,
        features: Type.Optional(
          Type.Array(Type.Enum(FEATURES), {
            maxItems: FEATURES.length,
            description: "Premium checks.",
          }),
        ),
      },
      strict,
    ),
    ({ entry, features = [] }, backend) => backend.check(entry, features),
  ),
  tool(
    {
      name: "decide",
      title: "Decide on a sign-up",
      description:
        "Says accept, challenge, review or reject for an email address at a sign-up form, with the reason and a sentence for the person.",
    },
    Type.Object(
      {
        email: text("The address as the person typed it."),
        policy: Type.Optional(text("A policy of the account; the default one unless given.")),
      },
      strict,
    ),
    ({ email, policy = "default" }, backend) => backend.decide(email, policy),
  ),
  tool(
    {
      name: "check_list",
      title: "Check a list",
      description: `Checks up to ${String(LIST_MAX)} addresses and domains and gives the result of each by its text.`,
    },
    Type.Object({ entries: Type.Array(Entry, { minItems: 1, maxItems: LIST_MAX }) }, strict),
    async ({ entries }, backend) => ({ results: await backend.checkList(entries) }),
  ),
  tool(
    {
      name: "explain",
      title: "Explain a verdict",
      description:
        "Names each signal of an entry with its weight, what matched, and the lists that hold it.",
    },
    Type.Object({ entry: Entry }, strict),
    ({ entry }, backend) => backend.explain(entry),
  ),
];

interface Words extends Pick<Tool, "name" | "title" | "description"> {
  readonly changes?: true;
}

function tool<S extends Schema>(
  words: Words,
  input: S,
  call: (input: Described<S>, backend: Backend) => Promise<object>,
): Tool {
  return {
    changes: false,
    ...words,
    input,
    // The library validated it by the schema.
    call: (given, backend) => call(given as Described<S>, backend),
  };
}
