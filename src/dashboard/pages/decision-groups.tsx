import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { DECISIONS } from "../../core/policy/policy.ts";
import type { DecisionGroups, FeedbackMark, ReportedGroup } from "../../http/account/shapes.ts";
import { call, post } from "../lib/client.ts";
import type { ShownPolicy } from "../lib/draft.ts";
import { capital, count, counted } from "../lib/format.ts";
import { setQuery } from "../lib/router.ts";
import { say } from "../lib/state.ts";
import { Act, Dialog } from "../parts/act.tsx";
import { Button, SignButton } from "../parts/button.tsx";
import { Split } from "../parts/chart.tsx";
import { Chip } from "../parts/marks.tsx";
import { Loaded } from "../parts/page.tsx";
import { More } from "../parts/rows.tsx";
import {
  FILTERS,
  groupsSentence,
  type NamedGroup,
  SAID,
  shownGroups,
  toldOf,
  valueWords,
} from "../words/decisions.ts";
import { DECISION } from "../words/policy.ts";

/** What the sign-ups of the last 24 hours have in common. A press on one narrows the log below to it. */
export const Groups = (): VNode => (
  <section class="sheet stack">
    <Loaded path="decisions/groups" lines={8}>
      {(groups: DecisionGroups) => <Shown {...groups} />}
    </Loaded>
  </section>
);

const FIRST = 5;

function Shown(groups: DecisionGroups): VNode {
  const [opened, setOpened] = useState<NamedGroup>();
  const all = shownGroups(groups);
  const list = (some: readonly NamedGroup[], label: string): VNode => (
    <ul class="log groups" aria-label={label}>
      {some.map((group) => lineOf(group, () => setOpened(group)))}
    </ul>
  );
  return (
    <>
      <h2 class="say">{groupsSentence(groups)}</h2>
      {all.length > 0 && list(all.slice(0, FIRST), "Groups")}
      {all.length > FIRST && (
        <More
          summary={`${count(all.length - FIRST)} smaller groups, providers and shapes of names`}
        >
          {list(all.slice(FIRST), "Other groups")}
        </More>
      )}
      {opened && <Opened group={opened} close={() => setOpened(undefined)} />}
    </>
  );
}

const nameOf = ({ by, value }: NamedGroup): string => valueWords(by, value);

function narrow(by: NamedGroup["by"], value: string): void {
  const others = Object.fromEntries(Object.keys(FILTERS).map((filter) => [filter, ""]));
  setQuery({ ...others, [by]: value });
  document.getElementById("log")?.scrollIntoView();
}

function lineOf(group: NamedGroup, open: () => void): VNode {
  const { by, value, count: many, decided, feedback } = group;
  const name = nameOf(group);
  const said = Object.entries(feedback).filter(([, times]) => times > 0);
  return (
    <li key={`${by} ${value}`}>
      <span class="log-kind note">{capital(by)}</span>
      <span class="log-name">
        <Button act={name} class="link" onClick={() => narrow(by, value)} />
      </span>
      <span class="log-time">{counted(many, "sign-up")}</span>
      <span class="log-bar">
        <Split
          label={name}
          parts={DECISIONS.map((one) => [DECISION[one].words, DECISION[one].colour, decided[one]])}
        />
      </span>
      <span class="log-said">
        {said.map(([outcome, times]) => {
          const { mark, words } = SAID[outcome as FeedbackMark["outcome"]];
          return <Chip key={outcome} {...{ mark, words: `${count(times)} ${words}` }} />;
        })}
      </span>
      <SignButton sign="⋯" label={`What to do about ${by} ${name}`} onClick={open} />
    </li>
  );
}

function Opened({ group, close }: { group: NamedGroup; close: () => void }): VNode {
  const { by, value, mailboxes, provider } = group;
  const name = nameOf(group);
  const report = async (outcome: "abuse" | "fine"): Promise<void> => {
    const done = await post<ReportedGroup>("decisions/report", { by, value, outcome });
    const { first, last } = done;
    const told = `${counted(done.mailboxes, "mailbox is", "mailboxes are")} reported as ${outcome}.`;
    say(told, () => post("decisions/take-back", { first, last }));
    close();
  };
  return (
    <Dialog title={`${capital(by)} ${name}`} onClose={close}>
      <p>{toldOf(group)}</p>
      <p class="prose">
        Rules can ask for your reports; nothing is denied by a report alone. Each of these can be
        undone.
      </p>
      <div class="stack close">
        <Act
          {...{ act: `Report all ${count(mailboxes)} as abuse`, class: "" }}
          send={() => report("abuse")}
        />
        <Act
          {...{ act: `All ${count(mailboxes)} are fine`, class: "" }}
          send={() => report("fine")}
        />
        {by === "domain" && !provider && (
          <Act {...{ act: `Deny ${value}`, class: "grave" }} send={() => deny(value).then(close)} />
        )}
        <Button act="Close" class="plain" onClick={close} />
      </div>
    </Dialog>
  );
}

/** By the first rule of the account's own policy, in a new version; Undo publishes what was live before. */
async function deny(domain: string): Promise<void> {
  const path = "policies/default";
  const { document } = await call<ShownPolicy>("GET", path);
  const [first] = document.rules;
  const denied =
    first?.then === "reject" && Object.keys(first.when).join() === "registrable_domain";
  const names = denied ? [first.when["registrable_domain"]].flat() : [];
  const rule = {
    when: { registrable_domain: [...names, domain] },
    then: "reject",
    reason: "denied",
  };
  const rules = [rule, ...document.rules.slice(denied ? 1 : 0)];
  await post(path, { document: { ...document, rules } });
  say(`Sign-ups at ${domain} are refused by rule 1 of your policy.`, () =>
    post(path, { document }),
  );
}
