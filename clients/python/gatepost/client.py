"""The clients: one for threads, one for asyncio."""

from __future__ import annotations

import asyncio
import ssl
import time
import uuid
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from ._core import Away, Core, Report, Steps, T
from ._site import Deadline, Site
from ._tasks import AsyncTransport
from ._threads import Transport
from .results import BulkResult, Decision, GatepostError, MaySend, Result, TokenResult, may_send_of
from .tokens import FirstUse

DEADLINE_MS = 1_500
BULK_DEADLINE_MS = 600_000

#: Names of 1 to 32 letters a to z and _; docs/decide.md.
Facts = Mapping[str, Union[str, int, float, bool]]

#: Up to 3 names of 1 to 16 letters with texts, which are cut to 128 characters.
CountBy = Mapping[str, Optional[str]]


class _Base:
    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        key: Optional[str] = None,
        *,
        deadline_ms: float = DEADLINE_MS,
        away: Away = "accept",
        policy: Optional[str] = None,
        language: Optional[str] = None,
        form: Optional[str] = None,
        token_secret: Union[str, Sequence[str]] = (),
        account: Optional[str] = None,
        first_use: Optional[FirstUse] = None,
        on_fault: Optional[Callable[[GatepostError, str], None]] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
        clock: Callable[[], float] = time.time,
    ):
        """
        ``deadline_ms`` bounds every call: name, connection, TLS, sending, reading, trying again.
        ``away`` is the decision when the service does not decide in time, or a quick function of the address.
        ``token_secret`` of the account is needed to verify tokens; while it changes, give the new one and the old one.
        ``account`` is the id that tokens must be made for; ``first_use`` is where ids of tokens are remembered, if not in
        this process. ``on_fault(fault, "decide")`` gets every fault, to log or to count it.
        """
        site = Site(url, key)
        defaults = {"policy": policy, "language": language, "form": form}
        self._core = Core(
            site,
            deadline_ms=deadline_ms,
            away=away,
            defaults=defaults,
            token_secret=token_secret,
            account=account,
            first_use=first_use,
            on_fault=on_fault,
            clock=clock,
        )
        self._threads = Transport(site, ssl_context)

    def verify_token(self, token: str, email: str, *, form: Optional[str] = None) -> TokenResult:
        """Whether the service made this token for this account, address and form, and it is used for the first time."""
        return self._core.verify_token(token, email, form)


class Client(_Base):
    """For threads and forked processes. Keep one for the process."""

    def decide(
        self,
        email: str,
        *,
        policy: Optional[str] = None,
        language: Optional[str] = None,
        form: Optional[str] = None,
        facts: Optional[Facts] = None,
        token: Optional[bool] = None,
        evt: Optional[str] = None,
        nonce: Optional[str] = None,
        origin: Optional[str] = None,
        question: Optional[str] = None,
        confirmed: bool = False,
        known: bool = False,
        count_by: Optional[CountBy] = None,
        deadline_ms: Optional[float] = None,
    ) -> Decision:
        """Decides on a sign-up, with the parameters of docs/decide.md. ``language`` may be a whole Accept-Language header.

        ``evt`` is what a browser put into the form to prove the mailbox, with the session's ``nonce`` and the page's ``origin``.

        ``question="send"`` asks whether a message may be sent there now, ``"invite"`` whether a member may invite this address; both
        need a secret key. ``confirmed``: the person saw your question about the address, or passed your CAPTCHA. ``known``: your
        cookie says that this browser has signed in to this account. ``count_by``: who asks, ``{"ip": ..., "inviter": ...}``.

        Never raises because of the service, and answers by the deadline. Text that is blank or longer than 1,000 characters is
        rejected without asking.
        """
        return _run(self._threads, self._core.decide(email, _asked(locals()), deadline_ms))

    def may_send(self, email: str, **options: Any) -> MaySend:
        """Whether a confirmation, code or link may be sent there now, with the options of ``decide``. ``send`` is true where the
        policy accepts, and where nobody answers. Needs a secret key."""
        return may_send_of(self.decide(email, question="send", **options))

    def may_invite(self, email: str, **options: Any) -> MaySend:
        """Whether a member may invite this address; as ``may_send``. Give ``count_by={"inviter": ...}``."""
        return may_send_of(self.decide(email, question="invite", **options))

    def check(
        self, entry: str, *, features: Optional[Sequence[str]] = None, deadline_ms: Optional[float] = None
    ) -> Result:
        """Checks an address or a domain. Raises GatepostError when there is no answer."""
        return _run(self._threads, self._core.check(entry, features, deadline_ms))

    def mailboxes(self, emails: Sequence[str], *, deadline_ms: Optional[float] = None) -> List[Dict[str, Any]]:
        """Ids of people that you have already, in order: ``{"email", "id", "former"}``, ``id`` None for what is no address. Nothing is
        counted. Needs a secret key. Raises GatepostError."""
        return _run(self._threads, self._core.mailboxes(emails, deadline_ms))

    def feedback(
        self,
        email: Optional[str] = None,
        outcome: str = "",
        *,
        mailbox: Optional[str] = None,
        note: Optional[str] = None,
        deadline_ms: Optional[float] = None,
    ) -> None:
        """Says what became of a sign-up: ``abuse``, ``bounce``, ``complaint`` or ``fine``, by its address or by ``mailbox``, the id of a
        decision. Needs a secret key. Raises GatepostError when it is not stored."""
        return _run(self._threads, self._core.feedback(_told(email, outcome, mailbox, note), deadline_ms))

    def bulk(
        self,
        entries: Sequence[str],
        *,
        on_progress: Report = None,
        idempotency_key: Optional[str] = None,
        deadline_ms: float = BULK_DEADLINE_MS,
    ) -> BulkResult:
        """Checks a list. Raises GatepostError when there are no results by the deadline; its ``session``, and that of the
        progress, goes on with ``resume_bulk``. The same ``idempotency_key`` and entries are not checked and charged twice.
        """
        key = idempotency_key or uuid.uuid4().hex
        return _run(self._threads, self._core.bulk(entries, key, Deadline(deadline_ms), on_progress))

    def resume_bulk(
        self, session: str, *, on_progress: Report = None, deadline_ms: float = BULK_DEADLINE_MS
    ) -> BulkResult:
        """Waits for a batch that ``bulk`` submitted, here or in another process."""
        return _run(self._threads, self._core.resume(session, Deadline(deadline_ms), on_progress))

    def close(self) -> None:
        self._threads.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class AsyncClient(_Base):
    """For asyncio."""

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self._tasks = AsyncTransport(self._core.site, self._threads.context)

    async def decide(
        self,
        email: str,
        *,
        policy: Optional[str] = None,
        language: Optional[str] = None,
        form: Optional[str] = None,
        facts: Optional[Facts] = None,
        token: Optional[bool] = None,
        evt: Optional[str] = None,
        nonce: Optional[str] = None,
        origin: Optional[str] = None,
        question: Optional[str] = None,
        confirmed: bool = False,
        known: bool = False,
        count_by: Optional[CountBy] = None,
        deadline_ms: Optional[float] = None,
    ) -> Decision:
        """As ``Client.decide``."""
        return await _run_async(self._tasks, self._core.decide(email, _asked(locals()), deadline_ms))

    async def may_send(self, email: str, **options: Any) -> MaySend:
        """As ``Client.may_send``."""
        return may_send_of(await self.decide(email, question="send", **options))

    async def may_invite(self, email: str, **options: Any) -> MaySend:
        """As ``Client.may_invite``."""
        return may_send_of(await self.decide(email, question="invite", **options))

    async def check(
        self, entry: str, *, features: Optional[Sequence[str]] = None, deadline_ms: Optional[float] = None
    ) -> Result:
        """As ``Client.check``."""
        return await _run_async(self._tasks, self._core.check(entry, features, deadline_ms))

    async def mailboxes(  # type: ignore[override]
        self, emails: Sequence[str], *, deadline_ms: Optional[float] = None
    ) -> List[Dict[str, Any]]:
        """As ``Client.mailboxes``."""
        return await _run_async(self._tasks, self._core.mailboxes(emails, deadline_ms))

    async def feedback(  # type: ignore[override]
        self,
        email: Optional[str] = None,
        outcome: str = "",
        *,
        mailbox: Optional[str] = None,
        note: Optional[str] = None,
        deadline_ms: Optional[float] = None,
    ) -> None:
        """As ``Client.feedback``."""
        return await _run_async(self._tasks, self._core.feedback(_told(email, outcome, mailbox, note), deadline_ms))

    async def bulk(
        self,
        entries: Sequence[str],
        *,
        on_progress: Report = None,
        idempotency_key: Optional[str] = None,
        deadline_ms: float = BULK_DEADLINE_MS,
    ) -> BulkResult:
        """As ``Client.bulk``."""
        key = idempotency_key or uuid.uuid4().hex
        return await _run_async(self._tasks, self._core.bulk(entries, key, Deadline(deadline_ms), on_progress))

    async def resume_bulk(
        self, session: str, *, on_progress: Report = None, deadline_ms: float = BULK_DEADLINE_MS
    ) -> BulkResult:
        """As ``Client.resume_bulk``."""
        return await _run_async(self._tasks, self._core.resume(session, Deadline(deadline_ms), on_progress))

    async def verify_token(self, token: str, email: str, *, form: Optional[str] = None) -> TokenResult:  # type: ignore[override]
        """As ``Client.verify_token``."""
        return super().verify_token(token, email, form=form)

    async def close(self) -> None:
        self._threads.close()
        await self._tasks.close()

    async def __aenter__(self) -> "AsyncClient":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _asked(given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The parameters of ``POST /api/decide`` among the arguments of ``decide``."""
    names = ["policy", "language", "form", "facts", "token", "count_by"] + (["evt", "nonce", "origin"] if given["evt"] else [])
    said = {name: True for name in ("confirmed", "known") if given[name]}
    return {**{name: given[name] for name in names}, **said, "for": given["question"]}


def _told(
    email: Optional[str], outcome: str, mailbox: Optional[str], note: Optional[str]
) -> Mapping[str, Optional[str]]:
    return {"email": email, "mailbox": mailbox, "outcome": outcome, "note": note}


def _run(transport: Transport, steps: Steps[T]) -> T:
    try:
        step = next(steps)
        while True:
            if isinstance(step, float):
                time.sleep(step)
                step = steps.send(None)
                continue
            try:
                response = transport.exchange(step)
            except GatepostError as fault:
                step = steps.throw(fault)
            else:
                step = steps.send(response)
    except StopIteration as end:
        result: T = end.value
        return result


async def _run_async(transport: AsyncTransport, steps: Steps[T]) -> T:
    try:
        step = next(steps)
        while True:
            if isinstance(step, float):
                await asyncio.sleep(step)
                step = steps.send(None)
                continue
            try:
                response = await transport.exchange(step)
            except GatepostError as fault:
                step = steps.throw(fault)
            else:
                step = steps.send(response)
    except StopIteration as end:
        result: T = end.value
        return result
