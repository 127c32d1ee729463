import { badParameter, missingParameter } from "../../base/refusals.ts";
import { MAILBOX_RULES } from "../../core/evidence/alias.ts";
import { orNull, Type } from "../../core/json-schema.ts";
import type { FindMailbox } from "../../gate/mailbox-ids.ts";
import { json } from "../operation.ts";
import type { Route } from "../route.ts";
import { accountOperation, accountRoute } from "./account-route.ts";

const EMAILS_MAX = 1_000;

/** POST /api/mailboxes: ids of people that the account has already. */
export const mailboxesRoute = (findMailbox: FindMailbox): Route =>
  accountRoute([MAILBOXES], ({ params }, accountId) => {
    const emails = params.texts("emails");
    if (emails === undefined) throw missingParameter("emails");
    if (emails.length > EMAILS_MAX) throw tooMany();
    const mailboxes = emails.map((email) => findMailbox(accountId, email));
    return { rules: MAILBOX_RULES, mailboxes };
  });

const tooMany = () => badParameter("emails", `up to ${String(EMAILS_MAX)} addresses`);

const EXAMPLE = { email: "jo+1@gmail.com", id: "m_7Q2KUV4DMDYQMZX4PV3R6TT3WE", former: [] };

const id = Type.String({ description: "The same for all spellings of one mailbox." });

export const MAILBOXES = accountOperation({
  id: "findMailboxes",
  at: "POST /api/mailboxes",
  summary: "Get mailbox ids of existing users",
  about:
    "Nothing is counted, stored or asked of DNS. `former` has the ids that earlier alias rules gave to the same " +
    "address, where they differ.",
  body: {
    emails: {
      schema: Type.Array(Type.String(), {
        maxItems: EMAILS_MAX,
        description: "As the people signed up.",
      }),
    },
  },
  bodyExample: { emails: [EXAMPLE.email] },
  answers: json(
    "In the order of the request.",
    Type.Object({
      rules: Type.Integer({ description: "By which alias rules the ids were made." }),
      mailboxes: Type.Array(
        Type.Object({
          email: Type.String(),
          id: orNull(id, "Null where the text is no address."),
          former: Type.Array(id),
        }),
      ),
    }),
    { rules: MAILBOX_RULES, mailboxes: [EXAMPLE] },
  ),
  refusals: { 400: ["No addresses, or too many.", tooMany()] },
});
