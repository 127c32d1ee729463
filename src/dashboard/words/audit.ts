import type { AuditEntry } from "../api/shapes.ts";
import { t } from "../app/i18n.ts";
import { withoutHashes } from "./rules.ts";

const ACTIONS: Readonly<Record<string, string>> = {
  "account.created": "Account made",
  "account.deleted": "Account deleted",
  "account.disabled": "Account switched off",
  "account.enabled": "Account switched on",
  "account.promoted": "Made an administrator",
  "account.demoted": "No longer an administrator",
  "account.tier": "Plan changed",
  "account.password": "Password changed",
  "account.traffic": "Counting of spellings",
  "account.token_secret": "Token secret renewed",
  "credits.granted": "Credits moved",
  "key.created": "Key created",
  "key.revoked": "Key revoked",
  "key.origins": "Origins of a key changed",
  "policy.changed": "Policy changed",
  "hook.created": "Hook created",
  "hook.secret": "Hook secret changed",
  "hook.removed": "Hook removed",
  "session.started": "Signed in",
  "session.delayed": "Wrong passwords",
  "session.ended": "Signed out",
  "session.revoked": "Signed out elsewhere",
  "webhook.saved": "Webhook saved",
  "webhook.secret": "Webhook secret renewed",
  "webhook.removed": "Webhook removed",
  "lists.entry_saved": "Rule made",
  "lists.entry_forgotten": "Rule removed",
  "lists.imported": "Rules imported",
  "lists.fetched": "Public lists fetched",
};

/** What happened, for people; an action this page does not know stays as it is. */
export function actionWords({ action, detail }: AuditEntry): string {
  const words = Object.hasOwn(ACTIONS, action) ? (ACTIONS[action] ?? action) : action;
  return detail === ""
    ? t(words)
    : t("{name}: {value}", { name: t(words), value: withoutHashes(detail) });
}
