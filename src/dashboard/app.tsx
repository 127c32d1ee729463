import type { VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isEnded } from "./lib/client.ts";
import { health } from "./lib/health.ts";
import { path } from "./lib/router.ts";
import { leave, ownEmail, ownerId, session, signIn } from "./lib/session.ts";
import { announcement, dropSecret, notice, type Notice, secrets } from "./lib/state.ts";
import { isOpen, PAGES } from "./pages.ts";
import { Page as SignInPage } from "./pages/sign-in.tsx";
import { Act, Dialog } from "./parts/act.tsx";
import { Button, Copy, Fault } from "./parts/button.tsx";
import { CODE, Form, PASSWORD } from "./parts/form.tsx";
import { Go, Lazy, PageHead } from "./parts/page.tsx";
import { Shell } from "./shell.tsx";

export function App({ fault }: { fault: string }): VNode {
  // What was done on one page is not the next one's.
  useEffect(() => path.subscribe(() => (notice.value = undefined)), []);
  return (
    <>
      <Shell>
        {notice.value && <NoticeBar {...notice.value} />}
        {secrets.value.map((one) => (
          <SecretBox key={one.value} {...one} />
        ))}
        {session.value.account?.admin && path.value !== "admin/system" && <BrokenNote />}
        {fault === "" ? (
          <Content />
        ) : (
          <>
            <PageHead title="Gatepost cannot be reached" />
            <Fault text={fault} retry={() => location.reload()} />
          </>
        )}
      </Shell>
      {isEnded.value && ownEmail() !== "" && <SignInAgain />}
      <div class="unseen" role="status">
        {announcement.value}
      </div>
    </>
  );
}

const close = (): void => void (notice.value = undefined);

const TOLD_MS = 4_000;
const LETTER_MS = 60;

function NoticeBar({ words, undo }: Notice): VNode {
  useEffect(() => {
    if (undo !== undefined) return undefined;
    const timer = setTimeout(close, TOLD_MS + LETTER_MS * words.length);
    return () => clearTimeout(timer);
  }, [words, undo]);
  return (
    <div class="notice told" role="status">
      <span>{words}</span>
      <span class="bar">
        {undo && <Act act="Undo" send={() => undo().then(close)} />}
        <Button act="Close" class="small plain" onClick={close} />
      </span>
    </div>
  );
}

const KEEP = "This is the only time it is shown. Copy it to where your server keeps its secrets.";

function SecretBox({
  id,
  title,
  value,
  words = KEEP,
  page,
  more,
}: (typeof secrets.value)[number]): VNode {
  const box = useRef<HTMLDivElement>(null);
  // After the dialog that made it is gone: it may stand out of sight, and it is shown only once.
  useEffect(() => box.current?.focus(), [value]);
  return (
    <>
      <div class="sheet secret stack" role="group" aria-label={title} tabIndex={-1} ref={box}>
        <h2>{title}</h2>
        <p>{words}</p>
        <div class="bar">
          <code>{value}</code>
          <Copy text={value} what={title} />
          <Button act="I have kept it" of={title} onClick={() => dropSecret(id)} />
        </div>
      </div>
      {page === path.value && more}
    </>
  );
}

/** What stops people, above every page of an operator; System tells the rest. */
function BrokenNote(): VNode | null {
  const broken = health.value.value?.broken.filter(({ stops }) => stops) ?? [];
  if (broken.length === 0) return null;
  return (
    <div class="notice no">
      <span>{broken.map(({ says }) => says).join(" ")}</span>
      <Go to="admin/system" act="See what to do" class="small" />
    </div>
  );
}

function Content(): VNode {
  const pages = PAGES.filter(([at]) => at === path.value);
  const page = pages.find(isOpen);
  if (page !== undefined) return <Lazy key={`${page[0]} ${page[1]}`} load={page[2]} />;
  if (pages.length > 0 && ownerId() === "") return <SignInPage />;
  return (
    <>
      <PageHead
        title="There is no such page"
        lead="The address may be mistyped, or the page is not for this account."
      />
      <p>
        <a href="./">Go to Check</a>
      </p>
    </>
  );
}

/** Stands before a page whose session has ended, so that nothing that was typed there is lost. */
function SignInAgain(): VNode {
  const [opened, setOpened] = useState(0);
  const email = ownEmail();
  // Only its buttons close it: Escape opens it again, because the page behind it may belong to another user.
  const again = (): void => setOpened(opened + 1);
  return (
    <Dialog key={opened} title="Your session has ended" onClose={again} hidesPage>
      <p>
        Sign in again as <b class="break">{email}</b>, and go on where you were: what you typed is
        still there.
      </p>
      <Form
        {...{ class: "stack", act: "Sign in", fields: [PASSWORD, CODE] }}
        send={(values) => signIn({ ...values, email })}
        extra={<Button act="Leave the page" class="plain push" onClick={leave} />}
      />
    </Dialog>
  );
}
