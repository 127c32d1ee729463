import type { ComponentChildren, VNode } from "preact";
import { useId, useRef, useState } from "preact/hooks";

export interface Tab {
  readonly name: string;
  readonly content: () => ComponentChildren;
}

const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

/** Panels of which one is shown. Arrow keys move between the tabs (WAI-ARIA, tabs pattern). */
export function Tabs({ tabs, label }: { tabs: readonly Tab[]; label: string }): VNode {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [name, setName] = useState(tabs[0]?.name ?? "");
  const chosen = tabs.find((tab) => tab.name === name) ?? tabs[0];
  const move = (event: KeyboardEvent): void => {
    const at = tabs.findIndex((tab) => tab === chosen) + (STEPS[event.key] ?? 0);
    const next = tabs[(at + tabs.length) % tabs.length];
    if (!(event.key in STEPS) || next === undefined) return;
    event.preventDefault();
    setName(next.name);
    list.current?.querySelectorAll("button")[tabs.indexOf(next)]?.focus();
  };
  return (
    <div>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map((tab) => (
          <button
            key={tab.name}
            type="button"
            role="tab"
            id={`${id}-${tab.name}`}
            aria-selected={tab === chosen}
            aria-controls={`${id}-panel`}
            tabIndex={tab === chosen ? 0 : -1}
            onClick={() => setName(tab.name)}
          >
            {tab.name}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} role="tabpanel" aria-labelledby={`${id}-${chosen?.name ?? ""}`}>
        {chosen?.content()}
      </div>
    </div>
  );
}
