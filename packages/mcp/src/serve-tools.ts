import { fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import type { Readable, Writable } from "node:stream";
import { explanationJson } from "../../../src/check/explain.ts";
import { type NotedResult, statusOf } from "../../../src/core/batch/result-cells.ts";
import { FEATURES } from "../../../src/core/checks/registry.ts";
import { type Described, type Schema, Type } from "../../../src/core/json-schema.ts";
import {
  builtInFor,
  policyFor,
  type PolicyQuestion,
  QUESTIONS,
} from "../../../src/core/policy/default-policy.ts";
import type { CliValidator } from "../../../src/cli/commands/check.ts";
import { DECISIONS } from "../../../src/core/policy/policy.ts";
import type { CliDecider } from "../../../src/cli/commands/decide.ts";
import { answeringTransport } from "./stdio.ts";
import { wantedLanguage } from "../../../src/core/policy/messages.ts";

const INSTRUCTIONS =
  "Gatepost checks email addresses and domains without sending mail. format, dns and disposable decide; signals say why.";

export async function serveTools(
  backend: Backend,
  version: string,
  { input, output }: AgentStreams,
): Promise<void> {
  const { transport, ended } = answeringTransport(input, output);
  const serve = (): McpServer => {
    const server = new McpServer({ name: "gatepost", version }, { instructions: INSTRUCTIONS });
    for (const { input: taken, output: given, call, ...tool } of TOOLS) {
      server.registerTool(
        tool.name,
        {
          title: tool.title,
          description: tool.description,
          inputSchema: namingUnknown(taken),
          outputSchema: fromJsonSchema(given as object),
          annotations: {
            readOnlyHint: !(tool.name === "decide" && backend.counts),
            destructiveHint: false,
            openWorldHint: true,
          },
        },
        async (values, { mcpReq }) => {
          const progressToken = mcpReq._meta?.progressToken;
          const progress: Progress = async (done, total) => {
            if (progressToken === undefined) return;
            const params = { progressToken, progress: done, total };
            await mcpReq.notify({ method: "notifications/progress", params });
          };
          return await shown(() => call(values, backend, progress));
        },
      );
    }
    return server;
  };
  const serving = serveStdio(serve, { transport });
  await ended;
  await serving.close();
}

/** The schema, whose refusal of an argument that the tool does not have names it. */
function namingUnknown(schema: Schema) {
  const read = fromJsonSchema(schema as object);
  const standard = read["~standard"];
  const names = Object.keys((schema as { properties?: object }).properties ?? {});
  const validate: typeof standard.validate = (value, ...more) => {
    const given = typeof value === "object" && value !== null ? Object.keys(value) : [];
    const unknown = given.find((name) => !names.includes(name));
    if (unknown === undefined) return standard.validate(value, ...more);
    const message = `"${unknown.slice(0, 100)}" is no argument; the tool takes ${names.join(", ")}.`;
    return { issues: [{ message }] };
  };
  return { ...read, "~standard": { ...standard, validate } };
}

export interface AgentStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** Says how many of the entries are checked, to an agent that asked for it. */
type Progress = (done: number, total: number) => Promise<void>;

/** The tool's answer, also as text for older agents; what went wrong is an answer too, so that the agent can read it. */
async function shown(call: () => Promise<object>) {
  try {
    const text = JSON.stringify(await call());
    const structuredContent = JSON.parse(text) as Record<string, unknown>;
    return { content: [{ type: "text" as const, text }], structuredContent };
  } catch (error) {
    const text = error instanceof Error ? error.message : "The tool failed.";
    return { isError: true, content: [{ type: "text" as const, text }] };
  }
}

type JsonObject = Readonly<Record<string, unknown>>;

interface DecisionTerms {
  readonly for?: PolicyQuestion;
  readonly policy?: string;
  readonly confirmed?: boolean;
  readonly language?: string;
  readonly known?: boolean;
  readonly count_by?: Readonly<Record<string, string>>;
}

/** What answers the tools: this process, or a server. A rejection's message is shown to the agent. */
interface Backend {
  /** Whether a decision is counted, and later ones follow from it. */
  readonly counts: boolean;
  check(entry: string, features: readonly string[]): Promise<JsonObject>;
  decide(email: string, terms: DecisionTerms): Promise<JsonObject>;
  /** By entry, in the order asked; an entry that is given twice is answered once. */
  checkList(
    entries: readonly string[],
    progress: Progress,
  ): Promise<Readonly<Record<string, unknown>>>;
  explain(entry: string): Promise<JsonObject>;
}

/** Entries of a list that are checked here at the same time. */
const AT_ONCE = 20;

/** Answers in this process, as `gatepost check` and `gatepost decide` do. */
export function localBackend(validator: CliValidator, { testPolicy }: CliDecider): Backend {
  const { validate, present, datasets } = validator;
  const check = async (entry: string, features: readonly string[]): Promise<JsonObject> =>
    parsed(present(await validate(entry, features), features));
  return {
    counts: false,
    check,
    async decide(
      email,
      { for: question = "signup", policy = policyFor(question), confirmed, language },
    ) {
      if (policy !== policyFor(question))
        throw new Error(`Without a server only the policy "${policyFor(question)}" exists.`);
      const builtIn = builtInFor(question);
      const [test] = await testPolicy(builtIn, [email], {
        premium: true,
        language: wantedLanguage(language ?? "") || "en",
        confirmed: confirmed === true,
      });
      const { decision, reason, message, did_you_mean: meant, complete, result } = test ?? {};
      return { decision, reason, message, did_you_mean: meant, complete, result };
    },
    async checkList(entries, progress) {
      const unique = [...new Set(entries)];
      const results: [string, unknown][] = [];
      for (let at = 0; at < unique.length; at += AT_ONCE) {
        const portion = unique.slice(at, at + AT_ONCE);
        const checked = await Promise.all(portion.map((entry) => check(entry, [])));
        results.push(
          ...checked.map((result, index) => [portion[index] ?? "", result] as [string, JsonObject]),
        );
        await progress(results.length, unique.length);
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
  const answerTo = async (path: string, body?: JsonObject): Promise<JsonObject> => {
    const { status, body: text } = await ask(path, body);
    if (status === 200) return parsed(text);
    throw new Error(`The server refused with ${String(status)}: ${messageOf(text)}`);
  };
  return {
    counts: true,
    check: (entry, features) =>
      entry.includes("@")
        ? answerTo("/api/email", { email: entry, features })
        : answerTo("/api/domain", { domain: entry, features }),
    decide: (email, terms) => answerTo("/api/decide", { email, ...terms }),
    async checkList(entries, progress) {
      const answer = await answerTo("/api/email", { bulk: true, json: true, email: entries });
      if ("results" in answer) {
        const results = answer["results"] as JsonObject;
        const count = Object.keys(results).length;
        await progress(count, count);
        return results;
      }
      const session = String(answer["session"]);
      throw new Error(`The server queued the list. Its results come at /api/view/${session}/json.`);
    },
    explain: (entry) => answerTo(`/api/explain/${encodeURIComponent(entry)}`),
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

interface Tool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: Schema;
  /** What an agent may rely on; answers have more. */
  readonly output: Schema;
  readonly call: (input: unknown, backend: Backend, progress: Progress) => Promise<object>;
}

const text = (description: string): Schema<string> =>
  Type.String({ minLength: 1, maxLength: 1_000, description });

/** A call with an argument that no tool has is refused. */
const strict = { additionalProperties: false } as const;

const Entry = text("An email address or a domain.");

const Checked = Type.Object({
  format: Type.Boolean(),
  disposable: Type.Boolean(),
  dns: Type.Boolean(),
  signals: Type.Array(Type.String()),
  did_you_mean: Type.Optional(Type.String()),
});

const STATUSES = ["valid", "disposable", "invalid_dns", "invalid_format", "unknown"] as const;

function summary(results: Readonly<Record<string, unknown>>, all: boolean): object {
  const counts = Object.fromEntries(STATUSES.map((status) => [status, 0]));
  const shownResults = Object.entries(results).filter(([, result]) => {
    const status = statusOf(result as NotedResult);
    counts[status] = (counts[status] ?? 0) + 1;
    return all || status !== "valid" || (result as NotedResult).did_you_mean !== undefined;
  });
  return { counts, results: Object.fromEntries(shownResults) };
}

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
    Checked,
    ({ entry, features = [] }, backend) => backend.check(entry, features),
  ),
  tool(
    {
      name: "decide",
      title: "Decide on a sign-up or a message",
      description:
        'Says accept, challenge, review or reject for an email address at a sign-up form, with for "send" before a message goes there, or with for "invite" before a member invites, with the reason and a sentence for the person.',
    },
    Type.Object(
      {
        email: text("The address as the person typed it."),
        for: Type.Optional(
          Type.Enum(QUESTIONS, { description: "What is asked: signup unless given." }),
        ),
        policy: Type.Optional(text("A policy of the account; the default one unless given.")),
        confirmed: Type.Optional(
          Type.Boolean({ description: "The person answered a challenge: none is made again." }),
        ),
        language: Type.Optional(
          text("Of the sentence for the person: a BCP 47 tag, or Accept-Language."),
        ),
        known: Type.Optional(
          Type.Boolean({ description: "Of a message: the person has signed in here before." }),
        ),
        count_by: Type.Optional(
          Type.Record(text("The value."), {
            description:
              'Who asks: {"ip": "203.0.113.7", "inviter": "u_12"}; a server counts by it.',
          }),
        ),
      },
      strict,
    ),
    Type.Object({
      decision: Type.Enum(DECISIONS),
      reason: Type.String(),
      message: Type.Optional(Type.String({ description: "For the person." })),
    }),
    ({ email, ...terms }, backend) => backend.decide(email, terms),
  ),
  tool(
    {
      name: "check_list",
      title: "Check a list",
      description:
        `Checks up to ${String(LIST_MAX)} addresses and domains. Counts them by status ("unknown": DNS did not answer) and gives, ` +
        "by their text, the results of those that are not valid or have a suggestion.",
    },
    Type.Object(
      {
        entries: Type.Array(Entry, { minItems: 1, maxItems: LIST_MAX }),
        all: Type.Optional(Type.Boolean({ description: "Give the results of good entries too." })),
      },
      strict,
    ),
    Type.Object({
      counts: Type.Object(Object.fromEntries(STATUSES.map((name) => [name, Type.Integer()]))),
      results: Type.Record(Checked),
    }),
    async ({ entries, all = false }, backend, progress) => {
      const total = new Set(entries).size;
      await progress(0, total);
      const results = await backend.checkList(entries, progress);
      return summary(results, all);
    },
  ),
  tool(
    {
      name: "explain",
      title: "Explain a verdict",
      description:
        "Names each signal of an entry with its weight, what matched, and the lists that hold it.",
    },
    Type.Object({ entry: Entry }, strict),
    Type.Object({ explanation: Type.Array(Type.Object({})) }),
    ({ entry }, backend) => backend.explain(entry),
  ),
];

function tool<S extends Schema>(
  words: Pick<Tool, "name" | "title" | "description">,
  input: S,
  output: Schema,
  call: (input: Described<S>, ...more: readonly [Backend, Progress]) => Promise<object>,
): Tool {
  // The library validated it by the schema.
  return {
    ...words,
    input,
    output,
    call: (given, ...more) => call(given as Described<S>, ...more),
  };
}
