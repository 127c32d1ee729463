import { Type } from "../../../core/json-schema.ts";
import type { Audit } from "../../../accounts/audit.ts";
import { file } from "../file.ts";
import { noteOwn } from "../note.ts";
import { shownAccount } from "../present.ts";
import type { AccountRoute, SignedInRequest } from "../route.ts";

/** What the file holds: the answers of these routes, where the server has them. */
const EXPORTED = [
  "keys",
  "usage",
  "credits",
  "activity",
  "sessions",
  "policies",
  "outcomes",
  "decisions",
  "hooks",
  "webhook",
  "webhook/deliveries",
];

const DAYS = "400";

/** All that is kept of an account, as it sees it on its own pages. Secrets are in none of them. */
export const exportRoute = (
  routes: readonly AccountRoute[],
  { audit }: { readonly audit: Audit },
): AccountRoute => {
  const read = async (request: SignedInRequest, path: string, id = ""): Promise<unknown> => {
    const route = routes.find((one) => one.method === "GET" && one.path === path);
    if (route === undefined) return undefined;
    return (await route.handle({ ...request, id, query: { days: DAYS } })).json;
  };
  return {
    method: "GET",
    path: "export",
    for: "account",
    summary: "All that is kept of the account, as a JSON file without secrets",
    answer: Type.Object({}),
    async handle(request) {
      const data: Record<string, unknown> = { account: shownAccount(request.account) };
      for (const path of EXPORTED) data[path] = await read(request, path);
      const { policies = [] } = (data["policies"] ?? {}) as { policies?: { name: string }[] };
      data["policy documents"] = await Promise.all(
        policies.map(({ name }) => read(request, "policies/:id", name)),
      );
      await noteOwn(request, audit, { action: "account.exported" });
      return file("gatepost-export.json", "application/json", once(JSON.stringify(data, null, 2)));
    },
  };
};

async function* once(text: string): AsyncGenerator<string> {
  yield await Promise.resolve(text);
}
