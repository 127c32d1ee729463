import type { VNode } from "preact";
import { t } from "../../app/i18n.ts";
import { PageHead } from "../../parts/page-head.tsx";
import { Answer } from "./answer.tsx";
import { Ask, useDeepLink } from "./ask.tsx";

export function CheckPage(): VNode {
  useDeepLink();
  return (
    <>
      <PageHead title={t("Check")} lead={t("One address or domain. No mail is sent to it.")}>
        <a href="/lists">{t("Check a whole list instead")}</a>
      </PageHead>
      <Ask />
      <Answer />
    </>
  );
}
