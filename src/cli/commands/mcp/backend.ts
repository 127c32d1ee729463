import { DEFAULT_POLICY } from "../../../core/policy/default-policy.ts";
import { explanationJson } from "../../../check/explain.ts";
import type { CliValidator } from "../check.ts";
import type { CliDecider } from "../gate/decide.ts";

type Json = Readonly<Record<string, unknown>>;

/** What answers the tools: this process, or a server. A rejection's message is shown to the agent. */
export interface Backend {
  check(entry: string, features: readonly string[]): Promise<Json>;
  decide(email: string, policy: string): Promise<Json>;
  /** By entry, in the order asked; an entry that is given twice is answered once. */
  checkList(entries: readonly string[]): Promise<Readonly<Record<string, unknown>>>;
  explain(entry: string): Promise<Json>;
}

/** Entries of a list that are checked here at the same time. */
const AT_ONCE = 20;

/** Answers in this process, as `gatepost check` and `gatepost decide` do. */
export function localBackend(
  validator: Omit<CliValidator, "close">,
  { testPolicy }: Omit<CliDecider, "close">,
): Backend {
  const { validate, present, datasets } = validator;
  const check = async (entry: string, features: readonly string[]): Promise<Json> =>
    parsed(present(await validate(entry, features), features));
  return {
    check,
    async decide(email, policy) {
      if (policy !== "default")
        throw new Error('Without a server only the policy "default" exists.');
      const [test] = await testPolicy(DEFAULT_POLICY, [email], { premium: true, language: "en" });
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
          ...checked.map((result, index) => [portion[index] ?? "", result] as [string, Json]),
        );
      }
      return Object.fromEntries(results);
    },
    explain: async (entry) => explanationJson(await validate(entry, []), datasets),
  };
}

/** Sends a request to the server and gives its status and body; rejects when there is no answer in 30 s. */
export type AskServer = (path: string, body?: Json) => Promise<{ status: number; body: string }>;

/** Answers by the API of a server, within the limits of its caller. */
export function serverBackend(ask: AskServer): Backend {
  const asked = async (path: string, body?: Json): Promise<Json> => {
    const { status, body: text } = await ask(path, body);
    if (status === 200) return parsed(text);
    throw new Error(`The server refused with ${String(status)}: ${messageOf(text)}`);
  };
  return {
    check: (entry, features) =>
      entry.includes("@")
        ? asked("/api/email", { email: entry, features })
        : asked("/api/domain", { domain: entry, features }),
    decide: (email, policy) => asked("/api/decide", { email, policy }),
    async checkList(entries) {
      const answer = await asked("/api/email", { bulk: true, json: true, email: entries });
      if ("results" in answer) return answer["results"] as Json;
      const session = String(answer["session"]);
      throw new Error(`The server queued the list. Its results come at /api/view/${session}/json.`);
    },
    explain: (entry) => asked(`/api/explain/${encodeURIComponent(entry)}`),
  };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
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
