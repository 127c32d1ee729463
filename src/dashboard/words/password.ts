import type { InputHTMLAttributes } from "preact";

export const PASSWORD_HINT = "At least 10 characters. A few unrelated words do well.";

/** The server holds the same limits and says so. */
export function passwordInput(
  autocomplete: "new-password" | "current-password",
): InputHTMLAttributes<HTMLInputElement> {
  const limits = autocomplete === "new-password" ? { minLength: 10, maxLength: 200 } : {};
  return { type: "password", autocomplete, required: true, ...limits };
}
