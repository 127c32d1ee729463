import type { VNode } from "preact";
import { switchFeed } from "../../api/rules.ts";
import { announce } from "../../app/announce.ts";
import { useAction } from "../../app/load.ts";
import { Fault } from "../../parts/states.tsx";
import { t } from "../../app/i18n.ts";
import type { Source } from "../../api/shapes.ts";

/** Switches one feed off, or on again, in every process. */
export function FeedSwitch({ source, onDone }: { source: Source; onDone: () => void }): VNode {
  const { busy, fault, run } = useAction();
  const { id, off } = source;
  const change = async (): Promise<void> => {
    await switchFeed(id, !off);
    announce(off ? t("{id} is on.", { id }) : t("{id} is off.", { id }));
    onDone();
  };
  return (
    <>
      <button type="button" class="small" disabled={busy} onClick={() => run(change)}>
        {off ? t("Switch on") : t("Switch off")}
        <span class="unseen"> {id}</span>
      </button>
      <Fault text={fault} />
    </>
  );
}
