import type { VNode } from "preact";
import { check, checkRun } from "../../app/check-run.ts";
import { Failed } from "../../parts/states.tsx";
import { Checking } from "./ask.tsx";
import { CheckResult } from "./verdict-sheet.tsx";

/** What the field came to; nothing before it was used. */
export function Answer(): VNode | null {
  const { shown } = checkRun.value;
  switch (shown.state) {
    case "nothing":
      return null;
    case "checking":
      return <Checking entry={shown.entry} />;
    case "failed":
      return <Failed message={shown.message} retry={() => check(shown.entry)} />;
    case "answered":
      return <CheckResult entry={shown.entry} step={shown.step} atMs={shown.atMs} />;
  }
}
