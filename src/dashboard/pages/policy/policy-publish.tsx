import type { VNode } from "preact";
import { useState } from "preact/hooks";
import {
  backTestPolicy,
  type OpenPolicy,
  type PolicyBackTest,
  type PolicyDocument,
  publishPolicy,
} from "../../api/gate.ts";
import { announce } from "../../app/announce.ts";
import { t } from "../../app/i18n.ts";
import type { Action } from "../../app/load.ts";
import { count } from "../../app/numbers.ts";
import { Confirm } from "../../parts/dialog.tsx";

const nextVersion = ({ versions }: OpenPolicy): number =>
  Math.max(0, ...versions.map(({ version }) => version)) + 1;

/** Makes the draft the live version; asks first when it would have rejected more people in the last 30 days. */
export function Publish(props: {
  policy: OpenPolicy;
  draft: PolicyDocument;
  action: Action;
  isChanged: boolean;
  onChange: () => void;
}): VNode {
  const { policy, draft, action, isChanged, onChange } = props;
  const [asked, setAsked] = useState<PolicyBackTest>();
  const publish = async (): Promise<void> => {
    await publishPolicy(policy.name, draft);
    announce(t("Published."));
    onChange();
  };
  const press = (): void =>
    action.run(async () => {
      // Without the test there is nothing to ask about.
      const test = await backTestPolicy(policy.name, draft).catch(() => undefined);
      if (test !== undefined && test.draft.reject > test.live.reject) setAsked(test);
      else await publish();
    });
  const act = t("Publish {n}", { n: nextVersion(policy) });
  return (
    <>
      <button type="button" class="main" disabled={action.busy || !isChanged} onClick={press}>
        {act}
      </button>
      {asked === undefined ? null : (
        <Confirm
          title={t("Reject more people?")}
          act={act}
          work={publish}
          onClose={() => setAsked(undefined)}
        >
          {t(
            "Of {all} checks of the last 30 days, this draft would have rejected {draft}, the live version {live}.",
            {
              all: count(asked.checks),
              draft: count(asked.draft.reject),
              live: count(asked.live.reject),
            },
          )}
        </Confirm>
      )}
    </>
  );
}
