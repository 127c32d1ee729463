import type { VNode } from "preact";
import type { Advice } from "../../../core/validate/reasons.ts";
import type { CheckStep, Result } from "../../api/shapes.ts";
import { stampTime, nowMs } from "../../app/clock.ts";
import { t, tx } from "../../app/i18n.ts";
import { counted } from "../../app/numbers.ts";
import { session } from "../../app/session.ts";
import { Mark } from "../../parts/mark.tsx";
import { Bones } from "../../parts/states.tsx";
import type { Mark as Kind } from "../../words/verdict.ts";

/** The mail servers and the premium results, one mark each. */
export function MailSetUp({ step }: { step: CheckStep }): VNode | null {
  const { result, advice } = step;
  if (!result.format) return null;
  const isWaiting = step.step === "core";
  return (
    <section class="stack close" aria-labelledby="set-up">
      <div class="bar">
        <h2 id="set-up">{t("How its mail is set up")}</h2>
        <span class="push note">{t("asked {time}", { time: stampTime(nowMs()) })}</span>
      </div>
      <ul class="facts-grid">
        <Servers result={result} />
        {advice.map((piece) => (
          <AdviceCard key={piece.check} piece={piece} />
        ))}
        {isWaiting ? <Waiting /> : null}
        {isWaiting || advice.length > 0 ? null : <NotIncluded />}
      </ul>
    </section>
  );
}

/** Holds the places of the seven premium facts. */
function Waiting(): VNode {
  return (
    <>
      {Array.from({ length: 7 }, (_, at) => (
        <li key={at}>
          <Bones lines={3} />
        </li>
      ))}
    </>
  );
}

function NotIncluded(): VNode {
  const isVisitor = session.value?.account === undefined;
  return (
    <li class="rest">
      <p>
        {tx(
          "SPF, DKIM, DMARC, age, mailbox provider, a score and spam traps come with the Pro plan. {link}",
          {
            link: <a href="/pricing">{isVisitor ? t("See plans and sign in") : t("See plans")}</a>,
          },
        )}
      </p>
    </li>
  );
}

function serverWords({ mx_info: hosts = [], signals }: Result): {
  readonly mark: Kind;
  readonly words: string;
  readonly says: string;
} {
  if (hosts.length > 0) {
    const words = counted(hosts.length, "{n} found", "{n} found");
    return { mark: "yes", words, says: t("The domain can receive mail.") };
  }
  if (signals.includes("dns_indeterminate")) {
    const says = t("DNS did not answer. Check again in a minute.");
    return { mark: "quiet", words: t("Unknown"), says };
  }
  return { mark: "no", words: t("None"), says: t("None that can be used.") };
}

function Servers({ result }: { result: Result }): VNode {
  const hosts = result.mx_info ?? [];
  const parent = result.domain_info?.parent_domain ?? null;
  const { mark, words, says } = serverWords(result);
  return (
    <li>
      <h3>{t("Mail servers")}</h3>
      <Mark mark={mark} words={words} />
      <p>{says}</p>
      <details>
        <summary>{t("Details")}</summary>
        {hosts.length === 0 ? null : <pre class="wrap">{hosts.join("\n")}</pre>}
        <p>
          {t("Domain: {domain}", { domain: result.domain })}
          {parent === null ? "" : `, ${t("part of {parent}", { parent })}`}
        </p>
      </details>
    </li>
  );
}

const MARKS: Readonly<Record<Advice["state"], Kind>> = {
  good: "yes",
  warn: "unsure",
  bad: "no",
  unknown: "quiet",
};

const WORDS: Readonly<Record<Advice["state"], string>> = {
  good: "Good",
  warn: "Weak",
  bad: "Bad",
  unknown: "Unknown",
};

function AdviceCard({ piece }: { piece: Advice }): VNode {
  const { title, state, figure, record, says, fix } = piece;
  return (
    <li>
      <h3>{t(title)}</h3>
      <Mark mark={MARKS[state]} words={figure === undefined ? t(WORDS[state]) : capital(figure)} />
      <p>{says}</p>
      {fix === undefined && record === undefined ? null : (
        <details>
          <summary>{t("Details")}</summary>
          {record === undefined ? null : <pre class="wrap">{record}</pre>}
          {fix === undefined ? null : (
            <p>{t("If the domain is yours: {advice}", { advice: fix })}</p>
          )}
        </details>
      )}
    </li>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
