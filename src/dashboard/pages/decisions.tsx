import type { ComponentChildren, VNode } from "preact";
import { useState } from "preact/hooks";
import { DECISIONS } from "../../core/policy/policy.ts";
import type { AccountDecisions, FeedbackMark, LoggedDecision } from "../../http/account/shapes.ts";
import { call, post, remove } from "../lib/client.ts";
import { capital } from "../lib/format.ts";
import { useLoad, usePolling } from "../lib/load.ts";
import { loadSession } from "../lib/session.ts";
import { Act } from "../parts/act.tsx";
import { Button } from "../parts/button.tsx";
import { Form, type FormValues, textField, useChoice } from "../parts/form.tsx";
import { Chip, Mark, noted, Time } from "../parts/marks.tsx";
import { GateTabs, PageHead, Sheet, Shown } from "../parts/page.tsx";
import { Table } from "../parts/rows.tsx";
import { reasonName, signalName } from "../words/names.ts";
import { DECISION } from "../words/policy.ts";
import type { MarkWords } from "../words/verdict.ts";

const CHOICES = [
  ["", "All decisions"] as const,
  ...DECISIONS.map((one) => [one, DECISION[one].words] as const),
];

export function Page(): VNode {
  const [decision, choice] = useChoice("Which decisions", CHOICES);
  const [mailbox, setMailbox] = useState("");
  const [isLive, setLive] = useState(false);
  const query = new URLSearchParams({
    ...(decision !== "" && { decision }),
    ...(mailbox !== "" && { mailbox }),
  }).toString();
  const loading = useLoad<AccountDecisions>(`decisions?${query}`);
  usePolling(isLive, loading.reload);
  const find = async ({ email }: FormValues): Promise<void> =>
    setMailbox((await post<{ readonly mailbox: string }>("decisions/find", { email })).mailbox);
  const aside = (
    <>
      <label class="bar">
        <input type="checkbox" checked={isLive} onChange={() => setLive(!isLive)} />
        Follow it live
      </label>
      {choice}
    </>
  );
  return (
    <>
      <PageHead title="Decisions" lead="What the gate decided in the last 7 days, newest first.">
        {logSwitch(loading.value?.log)}
      </PageHead>
      <GateTabs />
      <Sheet title="Log" aside={aside}>
        {mailbox === "" ? (
          <Form {...{ class: "bar", act: "Find the address", fields: [FIND], send: find }} keeps />
        ) : (
          <div class="bar">
            <span>Decisions about one mailbox.</span>
            <Button act="Show all" onClick={() => setMailbox("")} />
          </div>
        )}
        <Shown loading={loading} lines={6}>
          {(first) => <Rows key={query} first={first} query={query} />}
        </Shown>
      </Sheet>
    </>
  );
}

const FIND = textField(
  "email",
  "Address",
  "The log has no addresses: what you type is found by its keyed hash.",
  { class: "mono", placeholder: "name@domain", required: true, maxLength: 300 },
);

function logSwitch(log: AccountDecisions["log"] | undefined): VNode {
  const state = log === "on" ? "off" : "on";
  const kind = log === undefined ? "main unshown" : "main";
  return (
    <Act
      {...{ act: `Switch the log ${state}`, class: log === "on" ? "" : kind }}
      send={() => post("decision-log", { state }).then(loadSession)}
      said={`The decision log is ${state}.`}
    >
      {log === "on" && "The logged decisions are deleted at once. Counts by day and reason stay."}
    </Act>
  );
}

/** The newest page of the log, with the older ones that were asked for. */
function Rows({ first, query }: { first: AccountDecisions; query: string }): VNode {
  const [older, setOlder] = useState<readonly AccountDecisions[]>([]);
  const pages = [first, ...older];
  const { next } = pages.at(-1) ?? first;
  const marks = new Map(
    pages.flatMap((page) => page.marks.map(({ mailbox, outcome }) => [mailbox, outcome])),
  );
  const more = async (): Promise<void> => {
    const path = `decisions?${query}&after=${encodeURIComponent(next ?? "")}`;
    setOlder([...older, await call<AccountDecisions>("GET", path)]);
  };
  return (
    <>
      <Table
        label="Decisions"
        head={["When", "Decision", "Why", "Domain", "Asked by", ""]}
        none={
          first.log === "off"
            ? "The log is off. Switched on, it keeps time, decision, reason and domain of the last 10,000 decisions, and no address."
            : "No decision fits. New ones appear as your form asks."
        }
        rows={pages.flatMap((page) =>
          page.decisions.map((row) => cellsOf(row, marks.get(row.mailbox?.id ?? ""))),
        )}
      />
      {next && <Act act="Show older ones" send={more} />}
    </>
  );
}

function cellsOf(
  row: LoggedDecision,
  mark: FeedbackMark["outcome"] | undefined,
): readonly ComponentChildren[] {
  const { reason, rule, policy, signals, complete, mailbox, form, key } = row;
  const { registrable_domain: domain } = row;
  return [
    <Time at={row.time} />,
    <Mark {...DECISION[row.decision]} />,
    noted(
      reasonName(reason),
      rule === null ? "No rule fits" : `Rule ${String(rule + 1)}`,
      ` of ${policy.name}, version ${String(policy.version)}`,
      complete ? "" : ". DNS did not answer in time",
      <div>{signals.map(signalName).join(", ")}</div>,
    ),
    domain ?? "–",
    noted(
      form ?? (key?.startsWith("hook:") === true ? "a hook" : key === null ? "no key" : "a key"),
      row.for === "send" ? "before a message" : "",
    ),
    mailbox && feedback(mailbox.id, domain ?? "", mark),
  ];
}

const NOTE = textField("note", "Note", "For yourself. May stay empty.", { maxLength: 1_000 });

const MARKS: Readonly<Record<FeedbackMark["outcome"], MarkWords>> = {
  abuse: { mark: "no", words: "Reported as abuse" },
  bounce: { mark: "unsure", words: "Bounced" },
  complaint: { mark: "unsure", words: "Complained" },
  fine: { mark: "yes", words: "Fine" },
};

/** Nothing is denied by it alone. */
function feedback(mailbox: string, of: string, mark: FeedbackMark["outcome"] | undefined): VNode {
  if (mark !== undefined) {
    return (
      <span class="bar">
        <Chip {...MARKS[mark]} />
        <Act
          {...{ act: "Undo", of: `the report about ${of}`, said: "The report is taken back." }}
          send={() => remove(`feedback/${mailbox}`)}
        />
      </span>
    );
  }
  const report = (outcome: "abuse" | "fine") => ({
    act: capital(outcome),
    of,
    fields: [NOTE],
    send: ({ note = "" }: FormValues) =>
      post("feedback", { mailbox, outcome, ...(note !== "" && { note }) }),
  });
  return (
    <span class="bar">
      <Act
        {...{ ...report("abuse"), yes: "Report it", title: "Report this sign-up as abuse?" }}
        said="Reported. Rules can ask for your reports; nothing is denied by itself."
      />
      <Act
        {...{ ...report("fine"), yes: "Say so", title: "Was this person fine?" }}
        said="Noted as fine."
      />
    </span>
  );
}
