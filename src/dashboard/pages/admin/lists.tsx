import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { PageHead } from "../../parts/page-head.tsx";
import { BackTestForm } from "./back-test.tsx";
import { Census } from "./census.tsx";
import { OwnEntries } from "./rules.tsx";
import { Reports } from "./reports.tsx";
import { t } from "../../app/i18n.ts";
import { Sources } from "./feeds.tsx";

/** What detection knows: what clients say is wrong, the operator's own word, and the public lists. */
export function AdminListsPage(): VNode {
  const [changes, setChanges] = useState(0);
  return (
    <>
      <PageHead
        title={t("Lists and reports")}
        lead={t(
          "Reports from clients, your own entries, and the public lists. Changes apply everywhere within 5 seconds.",
        )}
      />
      <Reports onSettled={() => setChanges(changes + 1)} />
      <OwnEntries changes={changes} />
      <Sources />
      <Census />
      <BackTestForm />
    </>
  );
}
