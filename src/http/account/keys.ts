import {
  type ApiKey,
  KEY_NAME_MAX,
  keyJson,
  KEYS_MAX,
  type KeyService,
} from "../../accounts/keys.ts";
import { badField, notFound, notNow } from "../../base/refusals.ts";
import { auditedKeys, auditedTokens } from "../../gate/audited.ts";
import type { Tokens } from "../../gate/tokens.ts";
import {
  account,
  type AccountRoute,
  type Field,
  optional,
  type SignedInRequest,
  textField,
  textsField,
  wholeField,
} from "./route.ts";
import { Keys, NewKey, NewSecret } from "./shapes.ts";

/** Longer names of keys are refused in the words below. */
const NAME_MAX = 2_000;
const BAD_NAME = `A key needs a name: one line of at most ${String(KEY_NAME_MAX)} characters.`;
const TOO_MANY = `An account has at most ${String(KEYS_MAX)} keys. Revoke one first.`;

const nameField = textField(NAME_MAX, { maxLength: KEY_NAME_MAX });
const texts = textsField(100);
const originsField: Field<readonly string[]> = {
  ...texts,
  read: (value, name) => texts.read(value, name).map((origin) => origin.trim()),
};

const shownKey = (key: ApiKey) => ({
  ...keyJson(key),
  kind: key.origins === undefined ? ("secret" as const) : ("publishable" as const),
});

export const keyRoutes = (keys: KeyService): readonly AccountRoute[] => [
  account("GET keys", "The account's keys, newest first", { answer: Keys }, async (request) => ({
    keys: (await keys.list(request.account.id)).map(shownKey).reverse(),
  })),
  account(
    "POST keys",
    "Make a key, with `origins` a publishable one; it is in this answer and nowhere else",
    {
      body: {
        name: nameField,
        origins: optional(originsField),
        policy: optional(textField(NAME_MAX)),
        form: optional(textField(NAME_MAX)),
        daily: optional(wholeField),
      },
      answer: NewKey,
    },
    async ({ body: { name, origins, policy, form, daily }, account: { id: accountId }, note }) => {
      const page = origins && {
        origins,
        ...(policy !== undefined && { policy }),
        ...(form !== undefined && { form }),
        ...(daily !== undefined && { daily }),
      };
      const answer = await auditedKeys(keys, note).create(accountId, name, page);
      if (answer.kind === "bad_page") throw badField(answer.mistake);
      if (answer.kind === "bad_name") throw badField(BAD_NAME);
      if (answer.kind === "too_many") throw notNow(TOO_MANY);
      const { id, name: kept } = answer.key;
      return { id, name: kept, api_key: answer.apiKey, ...(origins && { origins }) };
    },
  ),
  ...changeRoutes(keys),
];

const changeRoutes = (keys: KeyService): readonly AccountRoute[] => [
  account("DELETE keys/:id", "Revoke a key; it is refused within 5 s", {}, async (request) => {
    const { id } = await ownKey(request, keys);
    await auditedKeys(keys, request.note).revoke(id);
  }),
  account(
    "POST keys/:id/origins",
    "Replace the origins of a publishable key",
    { body: { origins: originsField } },
    async (request) => {
      const { id } = await ownKey(request, keys);
      const mistake = await auditedKeys(keys, request.note).setOrigins(id, request.body.origins);
      if (mistake !== undefined) throw badField(mistake);
    },
  ),
  account("POST keys/:id/name", "Rename a key", { body: { name: nameField } }, async (request) => {
    const { id } = await ownKey(request, keys);
    const isDone = await auditedKeys(keys, request.note).rename(id, request.body.name);
    if (!isDone) throw badField(BAD_NAME);
  }),
];

async function ownKey({ id, account: { id: own } }: SignedInRequest, keys: KeyService) {
  const key = await keys.find(id);
  if (key?.accountId !== own) throw notFound();
  return key;
}

export const tokenSecretRoute = (tokens: Pick<Tokens, "renewSecret">): AccountRoute =>
  account(
    "POST token-secret",
    "Make a new secret for tokens; it is in this answer only, and the old one ends at once",
    { answer: NewSecret },
    async ({ account: { id }, note }) => ({
      secret: await auditedTokens(tokens, note).renewSecret(id),
    }),
  );
