import type { Audit } from "../../../accounts/audit.ts";
import { auditedKeys, auditedTokens } from "../../../gate/audited.ts";
import {
  type ApiKey,
  KEY_NAME_MAX,
  keyJson,
  KEYS_MAX,
  type KeyService,
  type NewPage,
} from "../../../accounts/keys.ts";
import type { Tokens } from "../../../gate/tokens.ts";
import { badField, notFound, notNow } from "../../../base/refusals.ts";
import { Type } from "../../../core/json-schema.ts";
import { numberField, textField, textsField } from "../fields.ts";
import { noteOf } from "../note.ts";
import { type AccountRoute, answering, done, type SignedInRequest } from "../route.ts";
import { Keys, NewKey, NewSecret } from "../shapes.ts";

export interface KeyDeps {
  readonly keys: KeyService;
  readonly audit: Audit;
}

const originsField = (body: SignedInRequest["body"]): readonly string[] =>
  textsField(body, "origins", 100).map((origin) => origin.trim());

/** What is fixed with a publishable key; its mistakes are the service's to name. */
function pageIn(body: SignedInRequest["body"]): NewPage | undefined {
  const given = (name: string): boolean => body[name] !== undefined;
  if (!given("origins")) return undefined;
  return {
    origins: originsField(body),
    ...(given("policy") && { policy: textField(body, "policy", NAME_FIELD_MAX) }),
    ...(given("form") && { form: textField(body, "form", NAME_FIELD_MAX) }),
    ...(given("daily") && { daily: numberField(body, "daily") }),
  };
}

const shownKey = (key: ApiKey) => ({
  ...keyJson(key),
  kind: key.origins === undefined ? ("secret" as const) : ("publishable" as const),
});

/** Characters that are read; a name over `KEY_NAME_MAX` is refused in the words below. */
const NAME_FIELD_MAX = 2_000;
const BAD_KEY_NAME = `A key needs a name: one line of at most ${String(KEY_NAME_MAX)} characters.`;
const TOO_MANY_KEYS = `An account has at most ${String(KEYS_MAX)} keys. Revoke one first.`;

/** The keys of an account, secret and publishable. */
export const keyRoutes = ({ keys, audit }: KeyDeps): readonly AccountRoute[] => [
  answering(Keys, {
    method: "GET",
    path: "keys",
    for: "account",
    summary: "The account's keys, newest first",
    handle: async ({ account }) => ({
      keys: (await keys.list(account.id)).map(shownKey).reverse(),
    }),
  }),
  answering(NewKey, {
    method: "POST",
    path: "keys",
    for: "account",
    summary: "Make a key, with `origins` a publishable one; it is in this answer and nowhere else",
    body: Type.Object({
      name: Type.String({ maxLength: KEY_NAME_MAX }),
      origins: Type.Optional(Type.Array(Type.String())),
      policy: Type.Optional(Type.String()),
      form: Type.Optional(Type.String()),
      daily: Type.Optional(Type.Integer()),
    }),
    async handle(request) {
      const { body, account } = request;
      const name = textField(body, "name", NAME_FIELD_MAX);
      const page = pageIn(body);
      const noted = auditedKeys(keys, noteOf(request, audit));
      const answer = await noted.create(account.id, name, page);
      if (answer.kind === "bad_page") throw badField(answer.mistake);
      if (answer.kind === "bad_name") throw badField(BAD_KEY_NAME);
      if (answer.kind === "too_many") throw notNow(TOO_MANY_KEYS);
      const { id, name: kept } = answer.key;
      return { id, name: kept, api_key: answer.apiKey, ...(page && { origins: page.origins }) };
    },
  }),
  {
    method: "DELETE",
    path: "keys/:id",
    for: "account",
    summary: "Revoke a key; it is refused within 5 s",
    async handle(request) {
      const key = await keys.find(request.id);
      if (key?.accountId !== request.account.id) throw notFound();
      await auditedKeys(keys, noteOf(request, audit)).revoke(key.id);
      return done;
    },
  },
  originsRoute({ keys, audit }),
  nameRoute({ keys, audit }),
];

export const tokenSecretRoute = (deps: {
  readonly tokens: Pick<Tokens, "renewSecret">;
  readonly audit: Audit;
}): AccountRoute =>
  answering(NewSecret, {
    method: "POST",
    path: "token-secret",
    for: "account",
    summary:
      "Make a new secret for tokens; it is in this answer only, and the old one ends at once",
    async handle(request) {
      const noted = auditedTokens(deps.tokens, noteOf(request, deps.audit));
      return { secret: await noted.renewSecret(request.account.id) };
    },
  });

const nameRoute = ({ keys, audit }: KeyDeps): AccountRoute => ({
  method: "POST",
  path: "keys/:id/name",
  for: "account",
  summary: "Rename a key",
  body: Type.Object({ name: Type.String({ maxLength: KEY_NAME_MAX }) }),
  async handle(request) {
    const key = await keys.find(request.id);
    if (key?.accountId !== request.account.id) throw notFound();
    const name = textField(request.body, "name", NAME_FIELD_MAX);
    const noted = auditedKeys(keys, noteOf(request, audit));
    if (!(await noted.rename(key.id, name))) throw badField(BAD_KEY_NAME);
    return done;
  },
});

const originsRoute = ({ keys, audit }: KeyDeps): AccountRoute => ({
  method: "POST",
  path: "keys/:id/origins",
  for: "account",
  summary: "Replace the origins of a publishable key",
  body: Type.Object({ origins: Type.Array(Type.String()) }),
  async handle(request) {
    const key = await keys.find(request.id);
    if (key?.accountId !== request.account.id) throw notFound();
    const noted = auditedKeys(keys, noteOf(request, audit));
    const mistake = await noted.setOrigins(key.id, originsField(request.body));
    if (mistake !== undefined) throw badField(mistake);
    return done;
  },
});
