import type { VNode } from "preact";
import { switchFeed } from "../../api/rules.ts";
import { announce } from "../../app/announce.ts";
import { useAction } from "../../app/load.ts";
import { Fault } from "../../parts/states.tsx";
import type { Source } from "../../api/shapes.ts";

/** Switches one feed off, or on again, in every process. */
export function FeedSwitch({ source, onDone }: { source: Source; onDone: () => void }): VNode {
  const { busy, fault, run } = useAction();
  const { id, off } = source;
  const change = async (): Promise<void> => {
    await switchFeed(id, !off);
    announce(off ? `${id} is on.` : `${id} is off.`);
    onDone();
  };
  return (
    <>
      <button type="button" class="small" disabled={busy} onClick={() => run(change)}>
        {off ? "Switch on" : "Switch off"}
        <span class="unseen"> {id}</span>
      </button>
      <Fault text={fault} />
    </>
  );
}
