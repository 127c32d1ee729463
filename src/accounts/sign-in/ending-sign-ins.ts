import type { SignIns } from "./sign-in-records.ts";
import type { AccountService } from "../accounts.ts";

/** The same accounts; a password that is set signs every browser out: so an account is taken back from a thief. */
export function endingSessions(
  accounts: AccountService,
  sessions: Pick<SignIns, "endAll">,
): AccountService {
  return {
    ...accounts,
    async setPassword(id, password) {
      const answer = await accounts.setPassword(id, password);
      if (answer === "changed") await sessions.endAll(id);
      return answer;
    },
  };
}
