import { signal } from "@preact/signals";
import type { AllowanceJson, PurseJson, SessionState } from "../../http/account/shapes.ts";
import { ApiFault, call, isEnded, post } from "./client.ts";
import { counted } from "./format.ts";

export const session = signal<SessionState>({
  signup: "closed",
  public_url: location.origin,
  version: "",
  list_hours: 24,
});

export function listLife(): string {
  const { list_hours: hours } = session.value;
  if (hours < 2) return counted(Math.round(hours * 60), "minute");
  return hours > 72 ? counted(Math.round(hours / 24), "day") : counted(Math.round(hours), "hour");
}

export const ownEmail = (): string => session.value.account?.email ?? "";

export const ownerId = (): string => session.value.account?.id ?? "";

export const signInReason = signal("");

export function whenOwnerChanges(task: () => void): void {
  let known = ownerId();
  session.subscribe(() => {
    if (ownerId() === known) return;
    known = ownerId();
    task();
  });
}

export const allowance = signal<AllowanceJson | undefined>(undefined);

export const leftOf = ({ used, limit }: PurseJson): number =>
  limit === null ? Infinity : Math.max(0, limit - used);

export function stored(name: string): string | null {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/** Keeps a text, or for null no longer; without storage it lasts for this visit. */
export function store(name: string, text: string | null): void {
  try {
    if (text === null) localStorage.removeItem(name);
    else localStorage.setItem(name, text);
  } catch {
    // It is switched off.
  }
}

export async function loadSession(): Promise<void> {
  session.value = await call<SessionState>("GET", "session");
  isEnded.value = false;
  loadAllowance();
}

/** Brings the figure in the rail up to date; a failure leaves the old one, and the page itself says what is wrong. */
export function loadAllowance(): void {
  if (session.value.account === undefined) allowance.value = undefined;
  else
    void call<AllowanceJson>("GET", "allowance").then(
      (known) => (allowance.value = known),
      () => undefined,
    );
}

/** The server's counters are up to a quarter of a second behind. */
const BOOKED_AFTER_MS = 400;

export const loadAllowanceSoon = (): void => void setTimeout(loadAllowance, BOOKED_AFTER_MS);

/** Grows with all that is done: what is shown is asked for anew. */
export const changes = signal(0);

type SignInForm = Readonly<Record<string, string>>;

export const asksForCode = signal(false);

export async function signIn({ email, password, code }: SignInForm): Promise<void> {
  await post("sign-in", { email, password, ...(code && { code }) }).catch((error: unknown) => {
    if (!(error instanceof ApiFault && error.code === "second_factor_needed")) throw error;
    asksForCode.value = true;
    throw new ApiFault(401, ""); // the field that appears says it
  });
  asksForCode.value = false;
  signInReason.value = "";
  await loadSession();
}

export function leave(): void {
  isEnded.value = false;
  if (session.value.account === undefined) return;
  const { account: _, ...visitor } = session.value;
  signInReason.value = "Your session has ended. Sign in again.";
  allowance.value = undefined;
  session.value = visitor;
}

/** Who signs out means all tabs of the browser: nothing of the account stays on any. */
const tabs = new BroadcastChannel("gatepost-signed-out");

export async function signedOut(): Promise<void> {
  tabs.postMessage("");
  signInReason.value = "";
  await loadSession();
}

/**
 * A tab that is looked at again may show one account while the browser, by another tab, has become another's:
 * what is pressed here would change that one.
 */
async function compare(): Promise<void> {
  if (document.visibilityState !== "visible") return;
  const { account: now } = await call<SessionState>("GET", "session");
  if ((now?.id ?? "") === ownerId()) isEnded.value = false;
  else if (now === undefined) isEnded.value = true;
  else if (ownerId() === "") await loadSession();
  else location.reload();
}

export function watchOtherTabs(): void {
  tabs.addEventListener("message", leave);
  // A failure changes nothing: the next thing that is pressed tells it.
  document.addEventListener("visibilitychange", () => void compare().catch(() => undefined));
}
