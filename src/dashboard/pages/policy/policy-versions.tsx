import type { VNode } from "preact";
import { call } from "../../api/client.ts";
import type { OpenPolicy, PolicyDocument, PolicyVersion } from "../../api/gate.ts";
import { t } from "../../app/i18n.ts";
import { useAction } from "../../app/load.ts";
import { Fault } from "../../parts/states.tsx";
import { Time } from "../../parts/time.tsx";

const STATES: Readonly<Record<PolicyVersion["state"], readonly [chip: string, words: string]>> = {
  live: ["yes", "Live"],
  shadow: ["tip", "Shadow"],
  old: ["", ""],
};

/** Every version with its author; an old one may become the draft again. */
export function Versions(props: {
  policy: OpenPolicy;
  onUse: (document: PolicyDocument) => void;
}): VNode {
  const { policy, onUse } = props;
  const { busy, fault, run } = useAction();
  const use = (version: number): void =>
    run(async () => {
      const path = `policies/${encodeURIComponent(policy.name)}?version=${String(version)}`;
      onUse((await call<OpenPolicy>("GET", path)).document);
    });
  return (
    <section class="sheet stack">
      <h2>{t("Versions")}</h2>
      <Fault text={fault} />
      <ul class="lines">
        {policy.versions.map(({ version, state, author, created_at: at }) => {
          const [chip, words] = STATES[state];
          return (
            <li key={version}>
              <span class="grow">
                <b>{version}</b>{" "}
                <span class="note">
                  {author ?? t("comes with Gatepost")}
                  {at === null ? null : (
                    <>
                      , <Time at={at} />
                    </>
                  )}
                </span>
              </span>
              {words === "" ? null : <span class={`chip ${chip}`}>{t(words)}</span>}
              <button type="button" class="small" disabled={busy} onClick={() => use(version)}>
                {t("Use as draft")}
                <span class="unseen"> {version}</span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
