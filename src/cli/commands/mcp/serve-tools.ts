import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { explanationJson } from "../../../check/explain.ts";
import { FEATURES } from "../../../core/checks/registry.ts";
import { type Described, type Schema, Type } from "../../../core/json-schema.ts";
import {
  DEFAULT_POLICY,
  policyFor,
  type PolicyQuestion,
  QUESTIONS,
  SEND_POLICY,
} from "../../../core/policy/default-policy.ts";
import type { CliValidator } from "../check.ts";
import type { CliDecider } from "../gate/decide.ts";

const INSTRUCTIONS =
  "Gatepost checks email addresses and domains without sending mail. format, dns and disposable decide; signals say why.";

/** Serves the tools on standard input and output, until `ended`. */
export async function serveTools(
  backend: Backend,
  version: string,
  ended: Promise<void>,
): Promise<void> {
  const serving = serveStdio(() => {
    const server = new McpServer({ name: "gatepost", version }, { instructions: INSTRUCTIONS });
    for (const { name, title, description, input, call } of TOOLS) {
      server.registerTool(
        name,
        {
          title,
          description,
          inputSchema: fromJsonSchema(input as object),
          annotations: { readOnlyHint: true, openWorldHint: true },
        },
        async (given) => await shown(() => call(given, backend)),
      );
    }
    return server;
  });
  await ended;
  await serving.close();
}

/** The tool's answer; what went wrong is an answer too, so that the agent can read it. */
async function shown(call: () => Promise<object>) {
  try {
    const answer = await call();
    return { content: [{ type: "text" as const, text: JSON.stringify(answer) }] };
  } catch (error) {
    const text = error instanceof Error ? error.message : "The tool failed.";
    return { isError: true, content: [{ type: "text" as const, text }] };
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

/** What answers the tools: this process, or a server. A rejection's message is shown to the agent. */
interface Backend {
  check(entry: string, features: readonly string[]): Promise<JsonObject>;
  decide(email: string, question: PolicyQuestion, policy?: string): Promise<JsonObject>;
  /** By entry, in the order asked; an entry that is given twice is answered once. */
  checkList(entries: readonly string[]): Promise<Readonly<Record<string, unknown>>>;
  explain(entry: string): Promise<JsonObject>;
}

/** Entries of a list that are checked here at the same time. */
const AT_ONCE = 20;

/** Answers in this process, as `gatepost check` and `gatepost decide` do. */
export function localBackend(
  validator: Omit<CliValidator, "close">,
  { testPolicy }: Omit<CliDecider, "close">,
): Backend {
  const { validate, present, datasets } = validator;
  const check = async (entry: string, features: readonly string[]): Promise<JsonObject> =>
    parsed(present(await validate(entry, features), features));
  return {
    check,
    async decide(email, question, policy = policyFor(question)) {
      if (policy !== policyFor(question))
        throw new Error(`Without a server only the policy "${policyFor(question)}" exists.`);
      const builtIn = question === "send" ? SEND_POLICY : DEFAULT_POLICY;
      const [test] = await testPolicy(builtIn, [email], { premium: true, language: "en" });
      const { decision, reason, message, did_you_mean: meant, complete, result } = test ?? {};
      return { decision, reason, message, did_you_mean: meant, complete, result };
    },
    async checkList(entries) {
      const unique = [...new Set(entries)];
      const results: [string, unknown][] = [];
      for (let at = 0; at < unique.length; at += AT_ONCE) {
        const portion = unique.slice(at, at + AT_ONCE);
        const checked = await Promise.all(portion.map((entry) => check(entry, [])));
        results.push(
          ...checked.map((result, index) => [portion[index] ?? "", result] as [string, JsonObject]),
        );
      }
      return Object.fromEntries(results);
    },
    explain: async (entry) => explanationJson(await validate(entry, []), datasets),
  };
}

/** Sends a request to the server and gives its status and body; rejects when there is no answer in 30 s. */
export type AskServer = (
  path: string,
  body?: JsonObject,
) => Promise<{ status: number; body: string }>;

/** Answers by the API of a server, within the limits of its caller. */
export function serverBackend(ask: AskServer): Backend {
  const asked = async (path: string, body?: JsonObject): Promise<JsonObject> => {
    const { status, body: text } = await ask(path, body);
    if (status === 200) return parsed(text);
    throw new Error(`The server refused with ${String(status)}: ${messageOf(text)}`);
  };
  return {
    check: (entry, features) =>
      entry.includes("@")
        ? asked("/api/email", { email: entry, features })
        : asked("/api/domain", { domain: entry, features }),
    decide: (email, question, policy) =>
      asked("/api/decide", { email, for: question, ...(policy !== undefined && { policy }) }),
    async checkList(entries) {
      const answer = await asked("/api/email", { bulk: true, json: true, email: entries });
      if ("results" in answer) return answer["results"] as JsonObject;
      const session = String(answer["session"]);
      throw new Error(`The server queued the list. Its results come at /api/view/${session}/json.`);
    },
    explain: (entry) => asked(`/api/explain/${encodeURIComponent(entry)}`),
  };
}

function parsed(text: string): JsonObject {
  try {
    return JSON.parse(text) as JsonObject;
  } catch {
    throw new Error("The server's answer is not JSON. Is the address that of Gatepost?");
  }
}

/** The API's `error`; of any other answer its first characters. */
function messageOf(text: string): string {
  try {
    const { error } = JSON.parse(text) as { error?: unknown };
    if (typeof error === "string") return error;
  } catch {
    // shown as it is
  }
  return text.slice(0, 200);
}

/** Entries of `check_list`: what a server checks in one answer. */
const LIST_MAX = 100;
const ENTRY_MAX_CHARACTERS = 1_000;

interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Schema;
  readonly call: (input: unknown, backend: Backend) => Promise<object>;
}

const text = (description: string): Schema<string> =>
  Type.String({ minLength: 1, maxLength: ENTRY_MAX_CHARACTERS, description });

/** A call with an argument that no tool has is refused. */
const strict = { additionalProperties: false } as const;

const Entry = text("An email address or a domain.");

const TOOLS: readonly Tool[] = [
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
      title: "Decide on a sign-up or a message",
      description:
        'Says accept, challenge, review or reject for an email address at a sign-up form, or with for "send" before a message goes there, with the reason and a sentence for the person.',
    },
    Type.Object(
      {
        email: text("The address as the person typed it."),
        for: Type.Optional(
          Type.Enum(QUESTIONS, { description: "What is asked: signup unless given." }),
        ),
        policy: Type.Optional(text("A policy of the account; the default one unless given.")),
      },
      strict,
    ),
    ({ email, for: question = "signup", policy }, backend) =>
      backend.decide(email, question, policy),
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

function tool<S extends Schema>(
  words: Pick<Tool, "name" | "title" | "description">,
  input: S,
  call: (input: Described<S>, backend: Backend) => Promise<object>,
): Tool {
  // The library validated it by the schema.
  return { ...words, input, call: (given, backend) => call(given as Described<S>, backend) };
}
