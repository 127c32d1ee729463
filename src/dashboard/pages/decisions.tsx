import type { VNode } from "preact";
import { useState } from "preact/hooks";
import { call, post } from "../lib/client.ts";
import { count, counted } from "../lib/format.ts";
import { readyValue, useLoad, useLooks } from "../lib/load.ts";
import { loadSession } from "../lib/session.ts";
import type { AccountDecisions, LoggedDecision, Proposal } from "../lib/shapes.ts";
import { say } from "../lib/state.ts";
import { Empty, Lines, Mark, PageHead, Sheet, Shown, Table, Time } from "../parts/basic.tsx";
import { Act, Ask, type FieldSpec, Form, FormDialog, Options } from "../parts/form.tsx";
import { reasonName, signalName } from "../words/names.ts";
import { DECISION, DECISIONS } from "../words/policy.ts";
import { GateTabs } from "./gate.tsx";

/** The decision log, and what became of the people in it. */
export function DecisionsPage(): VNode {
  const [decision, setDecision] = useState("");
  const [mailbox, setMailbox] = useState("");
  const [isLive, setLive] = useState(false);
  const query = new URLSearchParams({
    ...(decision !== "" && { decision }),
    ...(mailbox !== "" && { mailbox }),
  }).toString();
  const loading = useLoad<AccountDecisions>(`decisions?${query}`);
  useLooks(isLive, loading.reload);
  const find = async ({ email = "" }: Readonly<Record<string, string>>): Promise<void> => {
    const found = await post<{ readonly mailbox: string }>("decisions/find", { email });
    setMailbox(found.mailbox);
  };
  return (
    <>
      <PageHead title="Decisions" lead="What the gate decided in the last 7 days, newest first.">
        <Switch loading={loading} />
      </PageHead>
      <GateTabs />
      <Proposals path="proposals" whose="your policy" />
      <Sheet
        title="Log"
        aside={
          <>
            <label class="choice">
              <input type="checkbox" checked={isLive} onChange={() => setLive(!isLive)} />
              Follow it live
            </label>
            <Options
              label="Which decisions"
              class="kind"
              value={decision}
              onValue={setDecision}
              choices={[
                ["", "All decisions"],
                ...DECISIONS.map((one) => [one, DECISION[one].words] as const),
              ]}
            />
          </>
        }
      >
        {mailbox === "" ? (
          <Form class="bar" act="Find the address" keeps fields={[FIND]} send={find} />
        ) : (
          <div class="bar">
            <span>Decisions about one mailbox.</span>
            <button type="button" class="small" onClick={() => setMailbox("")}>
              Show all
            </button>
          </div>
        )}
        <Shown loading={loading} lines={6}>
          {(first) => <Rows key={query} first={first} query={query} />}
        </Shown>
      </Sheet>
    </>
  );
}

const FIND: FieldSpec = {
  name: "email",
  label: "Address",
  hint: "The log has no addresses: what you type is found by its keyed hash.",
  input: { class: "mono", placeholder: "name@domain", required: true, maxLength: 300 },
};

function Switch({ loading }: { loading: ReturnType<typeof useLoad<AccountDecisions>> }): VNode {
  const turn = async (state: "on" | "off"): Promise<void> => {
    await post("decision-log", { state });
    await loadSession();
    loading.reload();
    say(`The decision log is ${state}.`);
  };
  const log = readyValue(loading)?.log;
  if (log !== "on") {
    const kind = log === undefined ? "main unshown" : "main";
    return <Act act="Switch the log on" class={kind} work={() => turn("on")} />;
  }
  return (
    <Ask act="Switch the log off" class="" title="Delete the log?" work={() => turn("off")}>
      The logged decisions are deleted at once. Counts by day and reason stay.
    </Ask>
  );
}

/** The first rows, and more of them when asked for. */
function Rows({ first, query }: { first: AccountDecisions; query: string }): VNode {
  const [older, setOlder] = useState<Pick<AccountDecisions, "decisions" | "next">>();
  const rows = [...first.decisions, ...(older?.decisions ?? [])];
  const next = older === undefined ? first.next : older.next;
  const more = async (): Promise<void> => {
    const path = `decisions?${query}&after=${encodeURIComponent(next ?? "")}`;
    const page = await call<AccountDecisions>("GET", path);
    setOlder({ ...page, decisions: [...(older?.decisions ?? []), ...page.decisions] });
  };
  if (rows.length === 0) {
    return (
      <Empty title="No decisions here">
        {first.log === "off"
          ? "The log is off. Switched on, it keeps time, decision, reason and domain of the last 10,000 decisions, and no address."
          : "No decision fits. New ones appear as your form asks."}
      </Empty>
    );
  }
  return (
    <>
      <Table
        label="Decisions"
        head={["When", "Decision", "Why", "Domain", "Asked by", ""]}
        rows={rows.map(cellsOf)}
      />
      {next === null ? null : (
        <div>
          <Act act="Show older ones" work={more} />
        </div>
      )}
    </>
  );
}

function cellsOf(row: LoggedDecision) {
  const { decision, reason, rule, policy, signals, complete, mailbox, form, key } = row;
  const { mark, words } = DECISION[decision];
  const by = `${policy.name}, version ${String(policy.version)}`;
  return [
    <Time at={row.time} />,
    <Mark mark={mark} words={words} />,
    <>
      {reasonName(reason)}
      <div class="note">
        {rule === null ? "No rule fits" : `Rule ${String(rule + 1)}`} of {by}
        {complete ? "" : ". DNS did not answer in time"}
      </div>
      {signals.length === 0 ? null : <div class="note">{signals.map(signalName).join(", ")}</div>}
    </>,
    row.registrable_domain ?? "–",
    form ?? (key?.startsWith("hook:") === true ? "a hook" : key === null ? "no key" : "a key"),
    mailbox === null ? null : <Feedback mailbox={mailbox.id} row={row} />,
  ];
}

const NOTE: FieldSpec = {
  name: "note",
  label: "Note",
  hint: "For yourself. May stay empty.",
  input: { maxLength: 1_000, autocomplete: "off" },
};

/** Nothing is denied by it alone. */
function Feedback({ mailbox, row }: { mailbox: string; row: LoggedDecision }): VNode {
  const tell =
    (outcome: "abuse" | "fine", said: string) =>
    async ({ note = "" }: Readonly<Record<string, string>>): Promise<void> => {
      await post("feedback", { mailbox, outcome, ...(note !== "" && { note }) });
      say(said);
    };
  const of = row.registrable_domain ?? "";
  return (
    <span class="bar">
      <FormDialog
        act="Abuse"
        of={of}
        title="Report this sign-up as abuse?"
        yes="Report it"
        fields={[NOTE]}
        send={tell(
          "abuse",
          "Reported. Rules can ask for your reports; nothing is denied by itself.",
        )}
      >
        <p>Three reports about one domain that no list has become a proposal to deny it.</p>
      </FormDialog>
      <FormDialog
        act="Fine"
        of={of}
        title="Was this person fine?"
        yes="Say so"
        fields={[NOTE]}
        send={tell("fine", "Noted as fine.")}
      >
        <p>For a refused address it becomes a proposal to allow its domain.</p>
      </FormDialog>
    </span>
  );
}

/** What feedback proposes: one press, and nothing chosen beforehand. */
export function Proposals({ path, whose }: { path: string; whose: string }): VNode | null {
  const loading = useLoad<{ readonly proposals: readonly Proposal[] }>(path);
  if (loading.loaded.state !== "ready" || loading.loaded.value.proposals.length === 0) return null;
  const answer = async (domain: string, word: string, said: string): Promise<void> => {
    await post(path, { domain, answer: word });
    loading.reload();
    say(said);
  };
  return (
    <Sheet title="What your feedback proposes">
      <Lines
        rows={loading.loaded.value.proposals.map(({ domain, proposes, reports, mailboxes }) => [
          <>
            <b class="mono">{domain}</b>
            <div class="note">
              {counted(
                reports,
                proposes === "deny" ? "report of abuse" : "“fine”",
                proposes === "deny" ? "reports of abuse" : "“fine”",
              )}{" "}
              about {count(mailboxes)} {mailboxes === 1 ? "mailbox" : "mailboxes"}
            </div>
          </>,
          <span class="bar">
            <Ask
              act="Deny"
              of={domain}
              class="small grave"
              title={`Deny ${domain}?`}
              work={() => answer(domain, "deny", `${domain} is denied by ${whose}.`)}
            >
              Every address at {domain} is refused from now on, by a rule of {whose}.
            </Ask>
            <Ask
              act="Allow"
              of={domain}
              title={`Allow ${domain}?`}
              work={() => answer(domain, "allow", `${domain} is allowed by ${whose}.`)}
            >
              Every address at {domain} is accepted from now on, by a rule of {whose}.
            </Ask>
            <Act
              act="Dismiss"
              of={domain}
              work={() => answer(domain, "dismiss", `The proposal about ${domain} is gone.`)}
            />
          </span>,
        ])}
      />
    </Sheet>
  );
}
