import type { ComponentChildren, VNode } from "preact";
import type { Advice } from "../../../core/validate/advice-words.ts";
import type { CheckStep, Result } from "../../api/shapes.ts";
import { session } from "../../app/session.ts";
import { Bones } from "../../parts/states.tsx";
import type { Mark } from "../../words/verdict.ts";

/** Where mail goes, and the name it was looked up by. */
export function MailServers({ result }: { result: Result }): VNode {
  if (!result.format) return <p class="prose">There is no domain to ask about.</p>;
  return (
    <div class="rows">
      <Fact title="In the order they are tried">
        <Hosts result={result} />
      </Fact>
      <Fact title="Domain">
        <code>{result.domain}</code>
        <Parent result={result} />
      </Fact>
    </div>
  );
}

/** The premium results, each with what to do about it. */
export function MailSetUp({ step }: { step: CheckStep }): VNode | null {
  const { result, advice } = step;
  if (!result.format) return null;
  return (
    <section class="sheet">
      <h2>How its mail is set up</h2>
      <div class="rows">
        {advice.map((piece) => (
          <AdviceRow key={piece.check} piece={piece} result={result} />
        ))}
        <Later step={step} />
      </div>
    </section>
  );
}

function Fact({ title, children }: { title: string; children: ComponentChildren }): VNode {
  return (
    <div>
      <h3>{title}</h3>
      {children}
    </div>
  );
}

function Hosts({ result }: { result: Result }): VNode {
  const hosts = result.mx_info ?? [];
  if (hosts.length > 0) {
    return (
      <div class="stack close">
        {hosts.map((host) => (
          <code key={host}>{host}</code>
        ))}
      </div>
    );
  }
  const words = result.signals.includes("dns_indeterminate")
    ? "Nobody could say. Check again in a minute."
    : "None that can be used.";
  return <div>{words}</div>;
}

function Parent({ result }: { result: Result }): VNode | null {
  const parent = result.domain_info?.parent_domain ?? null;
  return parent === null ? null : (
    <div class="note">
      part of <code>{parent}</code>
    </div>
  );
}

const TITLES: Readonly<Record<Advice["check"], string>> = {
  spf: "Who may send in its name (SPF)",
  dkim: "Signed mail (DKIM)",
  dmarc: "What happens to forged mail (DMARC)",
  domain_age: "Age",
  inbox_provider: "Mailbox provider",
  deliverability: "Mail set-up",
  spam_trap: "Spam trap",
};

const MARKS: Readonly<Record<Advice["state"], Mark>> = {
  good: "yes",
  warn: "unsure",
  bad: "no",
  unknown: "quiet",
};

function AdviceRow({ piece, result }: { piece: Advice; result: Result }): VNode {
  const figure = figureOf(piece.check, result);
  const record = recordOf(piece.check, result);
  return (
    <Fact title={TITLES[piece.check]}>
      <div>
        {figure === "" ? null : <span class={`chip ${MARKS[piece.state]}`}>{figure}</span>}{" "}
        {piece.says}
      </div>
      {piece.fix === undefined ? null : <div class="note">If the domain is yours: {piece.fix}</div>}
      {record === undefined ? null : (
        <details>
          <summary class="note">The record</summary>
          <pre class="wrap">{record}</pre>
        </details>
      )}
    </Fact>
  );
}

const FIGURES: Readonly<Record<Advice["check"], (result: Result) => string | undefined>> = {
  spf: (result) => result.email_auth?.spf,
  dkim: ({ email_auth: auth }) =>
    auth?.dkim_configured === undefined ? undefined : auth.dkim_configured ? "found" : "none found",
  dmarc: (result) => result.email_auth?.dmarc?.policy,
  domain_age: () => undefined, // its words have the figures
  inbox_provider: (result) => result.inbox_provider,
  deliverability: ({ deliverability_score: score }) =>
    score === undefined ? undefined : `${String(score)} of 100`,
  spam_trap: ({ spam_trap: trap }) =>
    trap === undefined ? undefined : trap.is_trap ? "trap" : "none known",
};

const figureOf = (check: Advice["check"], result: Result): string => FIGURES[check](result) ?? "";

function recordOf(check: Advice["check"], { email_auth: auth }: Result): string | undefined {
  if (check === "spf") return auth?.spf_record;
  return check === "dmarc" ? auth?.dmarc?.record : undefined;
}

/** What is still on its way, and what the plan does not include. */
function Later({ step }: { step: CheckStep }): VNode | null {
  if (step.step === "core" && step.advice.length === 0) {
    return <Bones lines={6} />;
  }
  const isDenied = step.result.requires_upgrade !== undefined;
  if (!isDenied && session.value?.account !== undefined) return null;
  return (
    <p class="prose">
      SPF, DKIM, DMARC, age, mailbox provider and a score of the mail set-up come with the Pro plan.{" "}
      <a href="/pricing">See plans</a>
    </p>
  );
}
