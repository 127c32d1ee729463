import type { ComponentChildren, VNode } from "preact";
import type { Advice } from "../../../core/validate/advice.ts";
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
          <AdviceRow key={piece.check} piece={piece} />
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

const MARKS: Readonly<Record<Advice["state"], Mark>> = {
  good: "yes",
  warn: "unsure",
  bad: "no",
  unknown: "quiet",
};

function AdviceRow({ piece }: { piece: Advice }): VNode {
  const { title, state, figure, record } = piece;
  return (
    <Fact title={title}>
      <div>
        {figure === undefined ? null : <span class={`chip ${MARKS[state]}`}>{figure}</span>}{" "}
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

/** What is still on its way, and what the plan does not include. */
function Later({ step }: { step: CheckStep }): VNode | null {
  if (step.step === "core" && step.advice.length === 0) {
    return <Bones lines={6} />;
  }
  const isDenied = step.result.requires_upgrade !== undefined;
  if (!isDenied && session.value?.account !== undefined) return null;
  return (
    <p class="prose">
      The checks of the mail set-up (SPF, DKIM, DMARC, age and more) come with the Pro plan.{" "}
      <a href="/pricing">See plans</a>
    </p>
  );
}
