import { signal } from "@preact/signals";
import { call, whenSignedOut } from "../api/client.ts";
import type { Allowance, SessionState } from "../api/shapes.ts";

/** Undefined until the server has said who is here. */
export const session = signal<SessionState | undefined>(undefined);

/** Why the visitor was sent to the sign-in page. */
export const signInReason = signal("");

/** What is left of the plan; undefined for visitors and until it is known. */
export const allowance = signal<Allowance | undefined>(undefined);

/** Asks who is here. Throws an `ApiFault`. */
export async function loadSession(): Promise<void> {
  session.value = await call<SessionState>("GET", "session");
  if (session.value.account === undefined) allowance.value = undefined;
  else void loadAllowance();
}

/** Brings the figure in the rail up to date; a failure leaves the old one. */
export async function loadAllowance(): Promise<void> {
  try {
    allowance.value = await call<Allowance>("GET", "allowance");
  } catch {
    // The rail shows what it knew; the page itself says what is wrong.
  }
}

function signedOut(): void {
  const known = session.value;
  if (known?.account === undefined) return;
  const { account: _, ...visitor } = known;
  signInReason.value = "Your session has ended. Sign in again.";
  allowance.value = undefined;
  session.value = visitor;
}

whenSignedOut(signedOut);

/**
 * A tab that is looked at again may show one account while the browser, by another tab, has become another's:
 * what is pressed here would change that one.
 */
async function compare(): Promise<void> {
  const known = session.value;
  if (document.visibilityState !== "visible" || known === undefined) return;
  const { account: now } = await call<SessionState>("GET", "session");
  if (now?.id === known.account?.id) return;
  if (now === undefined) signedOut();
  else if (known.account === undefined) await loadSession();
  else location.reload();
}

export function watchOtherTabs(): void {
  // A failure changes nothing: the next thing that is pressed tells it.
  document.addEventListener("visibilitychange", () => void compare().catch(() => undefined));
}
