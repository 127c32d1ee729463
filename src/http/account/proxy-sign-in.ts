import { accountEmail, type AccountService, endedWords } from "../../accounts/accounts.ts";
import type { Audit } from "../../accounts/audit.ts";
import type { SignedIn, SignInService, Visitor } from "../../accounts/sign-in/sign-ins.ts";
import type { Clock } from "../../base/clock.ts";
import type { Log } from "../../base/log.ts";
import { isTrustedProxy, type TrustedProxies } from "../client-address.ts";
import type { HttpRequest } from "../route.ts";

interface ProxySignInDeps {
  /** Name of the header, in lower case; absent: nobody signs in by one. */
  readonly header?: string | undefined;
  readonly trustedProxies: TrustedProxies;
  readonly accounts: Pick<AccountService, "find" | "takeOver">;
  readonly logins: Pick<SignInService, "start">;
  readonly audit: Audit;
  readonly clock: Pick<Clock, "monotonicMs">;
  readonly log: Pick<Log, "warn">;
}

/** Sign-in behind a proxy that knows the person already. It makes no accounts, and stands for the password alone. */
export class ProxySignIn {
  readonly #deps: ProxySignInDeps;
  #loggedMs = -Infinity;

  constructor(deps: ProxySignInDeps) {
    this.#deps = deps;
  }

  /** The e-mail address that a trusted proxy gives; what others send is logged, at most once a minute. */
  emailIn({ headers, socket }: HttpRequest): string | undefined {
    const { header, trustedProxies, clock, log } = this.#deps;
    const given = header === undefined ? undefined : headers[header]?.toString().trim();
    if (given === undefined || given === "") return undefined;
    const { remoteAddress: peer = "" } = socket;
    if (isTrustedProxy(peer, trustedProxies)) return accountEmail(given) ?? given;
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#loggedMs >= 60_000) {
      this.#loggedMs = nowMs;
      log.warn("sign_in.header_ignored", { peer });
    }
    return undefined;
  }

  /**
   * Undefined without an account, for one that is switched off, and for one that asks for a code. An account of a sign-up is
   * taken over first: a stranger may have made it with this address.
   */
  async enter(
    email: string,
    visitor: Visitor,
  ): Promise<(SignedIn & { readonly token: string }) | undefined> {
    const { accounts, logins, audit } = this.#deps;
    const known = email.includes("@") ? await accounts.find(email) : undefined;
    if (known === undefined || known.isDisabled) return undefined;
    const who = { actorId: known.id, accountId: known.id };
    const { clientAddress } = visitor;
    const ended = await accounts.takeOver(known);
    if (ended !== undefined) {
      const detail = endedWords(ended);
      await audit({ action: "account.access_ended", ...who, clientAddress, detail });
    }
    const account = ended === undefined ? known : await accounts.find(known.id);
    if (account === undefined || account.secondFactor !== undefined) return undefined;
    const started = await logins.start(account, visitor);
    await audit({ action: "session.started", ...who, clientAddress, detail: "by the proxy" });
    return { account, ...started };
  }
}
