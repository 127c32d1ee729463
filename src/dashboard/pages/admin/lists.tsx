import type { VNode } from "preact";
import { PageHead } from "../../parts/page-head.tsx";
import { OwnEntries } from "./rules.tsx";
import { t } from "../../app/i18n.ts";
import { Sources } from "./feeds.tsx";

/** What detection knows: the operator's own entries, and the public lists. */
export function AdminListsPage(): VNode {
  return (
    <>
      <PageHead
        title={t("Lists")}
        lead={t(
          "Your own entries and the public lists. Changes apply everywhere within 5 seconds.",
        )}
      />
      <OwnEntries />
      <Sources />
    </>
  );
}
