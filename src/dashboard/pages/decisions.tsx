import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { DECISIONS } from "../../core/policy/policy.ts";
import type {
  AccountDecisions,
  FeedbackMark,
  FoundDecisions,
  LoggedDecision,
} from "../../http/account/shapes.ts";
import { call, post, remove } from "../lib/client.ts";
import { capital, exactTime, timeMs } from "../lib/format.ts";
import { useLoad, usePolling } from "../lib/load.ts";
import { query, queried, setQuery } from "../lib/router.ts";
import { loadSession, session } from "../lib/session.ts";
import { Act, Dialog } from "../parts/act.tsx";
import { Button, SignButton } from "../parts/button.tsx";
import { Field, Form, type FormValues, Options, textField } from "../parts/form.tsx";
import { Chip, Mark, Time } from "../parts/marks.tsx";
import { GateTabs, PageHead, Sheet, Shown } from "../parts/page.tsx";
import { type NamedValue, Pairs } from "../parts/rows.tsx";
import { FILTERS, type Filter, SAID, valueWords } from "../words/decisions.ts";
import { reasonName } from "../words/names.ts";
import { DECISION } from "../words/policy.ts";
import { Groups } from "./decision-groups.tsx";

const CHOICES = [
  ["", "All decisions"] as const,
  ...DECISIONS.map((one) => [one, DECISION[one].words] as const),
];

export function Page(): VNode {
  const isOn = session.value.account?.logs_decisions === true;
  return (
    <>
      <PageHead
        title="Decisions"
        lead="What the gate decided in the last 7 days, newest first. It has no addresses: what you type is found by its keyed hash."
      />
      <GateTabs />
      {isOn ? (
        <>
          <Groups />
          <Log />
        </>
      ) : (
        <Sheet title="The log is off">
          <p class="prose">
            Switched on, it keeps time, decision, reason and domain of the last 10,000 decisions,
            and no address. Settings switch it off again.
          </p>
          <Act
            {...{ act: "Switch the log on", class: "main", said: "The decision log is on." }}
            send={() => post("decision-log", { state: "on" }).then(loadSession)}
          />
        </Sheet>
      )}
    </>
  );
}

const chosen = (): readonly (readonly [Filter, string])[] =>
  (Object.keys(FILTERS) as Filter[]).flatMap((name) => {
    const value = queried(name);
    return value === "" ? [] : [[name, value] as const];
  });

function Log(): VNode {
  const [isLive, setLive] = useState(false);
  const sought = new URLSearchParams(chosen().map(([name, value]) => [name, value])).toString();
  const loading = useLoad<AccountDecisions>(`decisions?${sought}`);
  usePolling(isLive, loading.reload);
  return (
    <section class="sheet stack" id="log">
      <h2 class="unseen">Log</h2>
      <div class="bar">
        <Options
          {...{ class: "kind", label: "Which decisions", value: queried("decision") }}
          choices={CHOICES}
          onValue={(decision) => setQuery({ decision })}
        />
        <Form class="bar find" act="Find" fields={[SOUGHT]} send={find} />
        <label class="bar">
          <input type="checkbox" checked={isLive} onChange={() => setLive(!isLive)} />
          Live
        </label>
        <a class="button small push" href={`account/decisions/csv?${sought}`} download>
          CSV
        </a>
      </div>
      {chosen().length > 0 && (
        <div class="bar">
          {chosen().map(([name, value]) => (
            <button
              key={name}
              type="button"
              class="small fix"
              aria-label={`Take the filter away: ${FILTERS[name]} ${valueWords(name, value)}`}
              onClick={() => setQuery({ [name]: "" })}
            >
              {FILTERS[name]}: {valueWords(name, value)} ×
            </button>
          ))}
          <Button
            act="Show all"
            class="link"
            onClick={() => setQuery(Object.fromEntries(chosen().map(([name]) => [name, ""])))}
          />
        </div>
      )}
      <Shown loading={loading} lines={6}>
        {(first) => <Rows key={sought} {...{ first, sought }} />}
      </Shown>
    </section>
  );
}

const SOUGHT = textField("text", "Address, domain, IP address or another value", undefined, {
  class: "mono",
  placeholder: "Address, domain, IP, inviter…",
  required: true,
  maxLength: 300,
  autocapitalize: "off",
  spellcheck: false,
});

async function find({ text }: FormValues): Promise<void> {
  const { by, value } = await post<FoundDecisions>("decisions/find", { text });
  setQuery({ [by]: value });
}

type Said = FeedbackMark["outcome"];

function Rows({ first, sought }: { first: AccountDecisions; sought: string }): VNode {
  const [older, setOlder] = useState<readonly AccountDecisions[]>([]);
  const [opened, setOpened] = useState("");
  const pages = [first, ...older];
  const { next } = pages.at(-1) ?? first;
  const marks = new Map<string | undefined, Said>(
    pages.flatMap((page) => page.marks.map(({ mailbox, outcome }) => [mailbox, outcome])),
  );
  const rows = pages.flatMap(({ decisions }) => decisions);
  const open = rows.find(({ id }) => id === opened);
  const close = (): void => setOpened("");
  const more = async (): Promise<void> => {
    const path = `decisions?${sought}&after=${encodeURIComponent(next ?? "")}`;
    setOlder([...older, await call<AccountDecisions>("GET", path)]);
  };
  if (rows.length === 0)
    return <p class="prose">No decision fits. New ones appear as your form asks.</p>;
  return (
    <>
      <ul class="log" aria-label="Decisions">
        {rows.map((row) => lineOf(row, marks.get(row.mailbox?.id), () => setOpened(row.id)))}
      </ul>
      {next && <Act act="Show older ones" send={more} />}
      {open && <Opened {...{ row: open, said: marks.get(open.mailbox?.id), close }} />}
    </>
  );
}

function filterLink(name: Filter, value: string, words = valueWords(name, value)): VNode {
  const parts = new URLSearchParams(query.value);
  parts.set(name, value);
  return <a href={`gate/decisions?${parts.toString()}`}>{words}</a>;
}

const askerOf = ({ form, key, for: asked }: LoggedDecision): string => {
  const by = form ?? (key?.startsWith("hook:") ? "a hook" : key === null ? "no key" : "a key");
  return asked === "send"
    ? `${by}, before a message`
    : asked === "invite"
      ? `${by}, before an invitation`
      : by;
};

const atTime = ({ time }: LoggedDecision): string => exactTime(timeMs(time));

function lineOf(row: LoggedDecision, said: Said | undefined, open: () => void): VNode {
  const { id, time, decision, reason, registrable_domain: domain } = row;
  return (
    <li key={id}>
      <span class="log-mark">
        <Mark {...DECISION[decision]} />
      </span>
      <span class="log-name">{domain === null ? "–" : filterLink("domain", domain)}</span>
      <span class="log-why note">{reasonName(reason)}</span>
      <span class="log-why note">{askerOf(row)}</span>
      <span class="log-said">{said && <Chip {...SAID[said]} />}</span>
      <span class="log-time note">
        <Time at={time} />
      </span>
      <SignButton sign="⋯" label={`More about the decision of ${atTime(row)}`} onClick={open} />
    </li>
  );
}

function factsOf(row: LoggedDecision): readonly (NamedValue | false)[] {
  const { reason, rule, policy, signals, complete, mailbox, sources, shape, form, key } = row;
  const { registrable_domain: domain } = row;
  const ruled = rule === null ? "No rule fits" : `Rule ${String(rule + 1)}`;
  return [
    ["Decision", <Mark {...DECISION[row.decision]} />],
    ["Reason", filterLink("reason", reason)],
    ["Rule", `${ruled} of ${policy.name}, version ${String(policy.version)}`],
    !complete && ["DNS", "Did not answer in time"],
    domain !== null && ["Domain", filterLink("domain", domain)],
    mailbox !== null && ["Mailbox", filterLink("mailbox", mailbox.id)],
    sources.length > 0 && [
      "Sources",
      sources.map(({ name, id }) => [filterLink("source", `${name}:${id}`), " "]),
    ],
    shape !== null && ["Shape", filterLink("shape", shape)],
    ["Asked by", form === null ? askerOf(row) : filterLink("form", form, askerOf(row))],
    key !== null && ["Key", filterLink("key", key)],
    signals.length > 0 && ["Signals", signals.join(", ")],
  ];
}

interface OpenedProps {
  row: LoggedDecision;
  said: Said | undefined;
  close: () => void;
}

const Opened = ({ row, said, close }: OpenedProps): VNode => (
  <Dialog title={`Decision of ${atTime(row)}`} onClose={close}>
    <Pairs rows={factsOf(row)} />
    {row.mailbox !== null && (
      <Became {...{ mailbox: row.mailbox.id, of: `, decision of ${atTime(row)}`, said, close }} />
    )}
    <Button act="Close" class="plain" onClick={close} />
  </Dialog>
);

/** What became of the mailbox, to be said or taken back. Nothing is denied by a report alone. */
function Became(props: Omit<OpenedProps, "row"> & { mailbox: string; of: string }): VNode {
  const { mailbox, of, said, close } = props;
  const [note, setNote] = useState("");
  const takeBack = () => remove(`feedback/${mailbox}`);
  if (said !== undefined) {
    return (
      <div class="bar">
        <Chip {...SAID[said]} />
        <Act
          {...{ act: "Undo", of: `the report${of}`, said: "The report is taken back." }}
          send={() => takeBack().then(close)}
        />
      </div>
    );
  }
  const report = (outcome: "abuse" | "fine", told: string): VNode => (
    <Act
      {...{ act: capital(outcome), of, class: "", said: told, undo: takeBack }}
      send={() => post("feedback", { mailbox, outcome, ...(note !== "" && { note }) }).then(close)}
    />
  );
  return (
    <>
      <Field
        label="Note, for yourself"
        input={{ maxLength: 1_000 }}
        value={note}
        onValue={setNote}
      />
      <div class="bar">
        {report("abuse", "Reported. Rules can ask for your reports; nothing is denied by itself.")}
        {report("fine", "Noted as fine.")}
      </div>
    </>
  );
}
