import type { SignIn } from "../../../accounts/sign-in/sign-in.ts";
import { wrongCurrentPassword } from "../../../base/refusals.ts";
import { textField } from "../fields.ts";
import type { SignedInRequest } from "../route.ts";

const PASSWORD_FIELD_MAX = 2_000;

/** Throws the `Refusal` of a request without the administrator's own password: a browser left open is not enough. */
export async function confirmOwn(
  { account, body, visitor }: SignedInRequest,
  { signIn }: { readonly signIn: Pick<SignIn, "isPassword"> },
): Promise<void> {
  const password = textField(body, "current_password", PASSWORD_FIELD_MAX);
  if (!(await signIn.isPassword(account.id, password, visitor))) throw wrongCurrentPassword();
}
