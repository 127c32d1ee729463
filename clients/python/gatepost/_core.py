"""What the client does, without saying how it waits.

Each operation is a generator. It yields an Ask and gets a Response or a GatepostError, or yields seconds to wait. The client
for threads and the one for asyncio drive the same operations.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, Generator, List, Mapping, Optional, Sequence, TypeVar, Union
from urllib.parse import quote

from ._site import Ask, Deadline, Site
from ._entry import count_by_of, entry_of, facts_of, language_of
from ._wire import Response
from .results import (
    DECISIONS,
    MALFORMED,
    BulkResult,
    Decision,
    GatepostError,
    Progress,
    Result,
    TokenResult,
    read_decision,
    read_result,
    refused_by,
)
from .tokens import FirstUse, UsedTokens, check_secrets, verify_token

T = TypeVar("T")
Steps = Generator[Union[Ask, float], Any, T]

#: Requests of one call: the first, and another at once.
_TRIES = 2
#: The same while a list is checked, which takes minutes.
_PATIENT_TRIES = 100
_BACK_OFF_S = 0.05

#: How often the progress of a list is looked at.
_LOOK_FIRST_S = 0.2
_LOOK_LAST_S = 5.0

#: Octets of the results of a list.
_BULK_MAX = 200_000_000

#: The service answers this long before the deadline, so that its answer arrives in time.
_MARGIN_MS = 40
_LEAST_MS, _MOST_MS = 50, 5_000

_JSON = {"Content-Type": "application/json"}

#: The decision without an answer, or a quick function of the address.
Away = Union[str, Callable[[str], str]]

Report = Optional[Callable[[Progress], None]]


class Core:
    def __init__(
        self,
        site: Site,
        *,
        deadline_ms: float,
        away: Away,
        defaults: Mapping[str, Any],
        token_secret: Union[str, Sequence[str]],
        account: Optional[str],
        first_use: Optional[FirstUse],
        on_fault: Optional[Callable[[GatepostError, str], None]],
        clock: Callable[[], float],
    ):
        if not callable(away) and away not in DECISIONS:
            raise ValueError(f"away: {away!r} is not one of {', '.join(DECISIONS)}")
        if deadline_ms <= 0:
            raise ValueError(f"deadline_ms: {deadline_ms!r} is not above 0")
        self.site = site
        self.deadline_ms = deadline_ms
        self._away = away if callable(away) else lambda _: away
        self._defaults = {name: value for name, value in defaults.items() if value is not None}
        self._secrets = [token_secret] if isinstance(token_secret, str) else list(token_secret)
        check_secrets(self._secrets)
        self._account = account
        self._first_use = first_use or UsedTokens(clock)
        self._on_fault = on_fault
        self._clock = clock

    def decide(self, email: str, options: Mapping[str, Any], deadline_ms: Optional[float]) -> Steps[Decision]:
        """Never raises for a fault: there is always a decision."""
        entry = entry_of(email)
        if entry is None:
            return MALFORMED
        # The policy of sign-ups is none of messages.
        is_sign_up = options.get("for") in (None, "signup")
        defaults = self._defaults if is_sign_up else {**self._defaults, "policy": None}
        asked = {**defaults, **{name: value for name, value in options.items() if value is not None}}
        language = language_of(asked.pop("language", None))
        if language is not None:
            asked["language"] = language
        try:
            if "facts" in asked:
                asked["facts"] = facts_of(asked["facts"])
            counted = count_by_of(asked.pop("count_by", None))
            if counted:
                asked["count_by"] = counted
            deadline = Deadline(deadline_ms or self.deadline_ms)
            inner = min(max(int(deadline.ms - _MARGIN_MS), _LEAST_MS), _MOST_MS)
            body = json.dumps({**asked, "email": entry, "deadline_ms": inner}).encode()
            response = yield from self._exchange(Ask("POST", "/api/decide", deadline, _JSON, body))
            return read_decision(_json(response))
        except GatepostError as fault:
            return self._without_answer(entry, fault)
        except (TypeError, ValueError, RecursionError) as fault:
            # A fact that is not JSON, a file instead of text: a mistake of the caller must not stop a sign-up either.
            return self._without_answer(entry, GatepostError("request", str(fault)))

    def _tell(self, fault: GatepostError) -> None:
        try:
            if self._on_fault is not None:
                self._on_fault(fault, "decide")
        except Exception:  # the caller's log must not stop a sign-up
            pass

    def _without_answer(self, entry: str, fault: GatepostError) -> Decision:
        self._tell(fault)
        refused = refused_by(fault)
        if refused is not None:
            return refused
        try:
            said = self._away(entry)
        except Exception:  # a function that fails lets the person in
            said = "accept"
        return Decision(said if said in DECISIONS else "accept", "unknown", source="away", fault=fault)

    def check(self, entry: str, features: Optional[Sequence[str]], deadline_ms: Optional[float]) -> Steps[Result]:
        kind = "email" if "@" in entry else "domain"
        fields = {kind: entry, **({"features": list(features)} if features else {})}
        deadline = Deadline(deadline_ms or self.deadline_ms)
        body = json.dumps(fields).encode()
        response = yield from self._exchange(Ask("POST", f"/api/{kind}", deadline, _JSON, body))
        return read_result(_json(response))

    def feedback(self, fields: Mapping[str, Optional[str]], deadline_ms: Optional[float]) -> Steps[None]:
        body = json.dumps({name: value for name, value in fields.items() if value is not None}).encode()
        deadline = Deadline(deadline_ms or self.deadline_ms)
        answer = _json((yield from self._exchange(Ask("POST", "/api/feedback", deadline, _JSON, body))))
        if not isinstance(answer, dict) or answer.get("recorded") is not True:
            raise GatepostError("answer", "the answer is not one of Gatepost")

    def mailboxes(self, emails: Sequence[str], deadline_ms: Optional[float]) -> Steps[List[Dict[str, Any]]]:
        deadline = Deadline(deadline_ms or self.deadline_ms)
        found: List[Dict[str, Any]] = []
        for at in range(0, len(emails), 1_000):
            body = json.dumps({"emails": list(emails[at : at + 1_000])}).encode()
            answer = _json((yield from self._exchange(Ask("POST", "/api/mailboxes", deadline, _JSON, body))))
            rows = answer.get("mailboxes") if isinstance(answer, dict) else None
            if not isinstance(rows, list) or len(rows) != len(emails[at : at + 1_000]):
                raise GatepostError("answer", "the answer is not one of Gatepost")
            found += rows
        return found

    def bulk(self, entries: Sequence[str], key: str, deadline: Deadline, report: Report) -> Steps[BulkResult]:
        """Submits once, whatever happens on the way: the service knows the key of a repeated request."""
        body = json.dumps({"bulk": True, "json": True, "email": "\n".join(entries)}).encode()
        headers = {**_JSON, "Idempotency-Key": key}
        fields = _fields((yield from self._exchange(Ask("POST", "/api/email", deadline, headers, body, _BULK_MAX, True))))
        if "results" in fields:
            return _finished(fields, report)
        return (yield from self.resume(fields["session"], deadline, report))

    def resume(self, session: str, deadline: Deadline, report: Report) -> Steps[BulkResult]:
        """Waits for a batch that was submitted."""
        path = f"/api/view/{quote(session, safe='')}/json"
        pause = _LOOK_FIRST_S
        try:
            while True:
                fields = _fields((yield from self._exchange(Ask("GET", path, deadline, {}, None, _BULK_MAX, True))))
                if "results" in fields:
                    return _finished(fields, report)
                _report(fields, report)
                yield min(pause, deadline.left())
                pause = min(pause * 1.5, _LOOK_LAST_S)
        except GatepostError as fault:
            fault.session = session
            raise

    def verify_token(self, token: str, email: str, form: Optional[str]) -> TokenResult:
        if not self._secrets:
            raise ValueError("token_secret: set it to verify tokens")
        return verify_token(
            token, email, self._secrets, self._clock(), self._first_use, account=self._account, form=form
        )

    def _exchange(self, ask: Ask) -> Steps[Response]:
        """Tries again when the connection broke, and when the service is not there for now. Both are safe: a repeated
        question costs a unit at most, and a batch has a key of its own."""
        before: Optional[GatepostError] = None
        most = _PATIENT_TRIES if ask.is_patient else _TRIES
        for tries in range(most):
            try:
                response: Response = yield ask
                refused = _refusal(response)
                if refused is None:
                    return response
                fault = refused
            except GatepostError as broken:
                fault = broken
            if fault.kind == "timeout" and before is not None:
                raise before  # says more
            delay = _delay(fault, tries, ask.is_patient)
            if delay is None or delay >= ask.deadline.left_or_0() or tries == most - 1:
                raise fault
            before = fault
            if delay > 0:
                yield float(delay)
        raise ask.deadline.passed()


def _delay(fault: GatepostError, tries: int, is_patient: bool) -> Optional[float]:
    """Seconds until another try; None: it would not help."""
    is_passing = fault.kind == "network" or fault.status in (502, 503, 504)
    if not is_passing and not (is_patient and fault.status in (409, 429)):
        return None
    return max(min(_BACK_OFF_S * 2**tries, _LOOK_LAST_S), fault.retry_after or 0) if is_patient else 0


def _refusal(response: Response) -> Optional[GatepostError]:
    if response.status == 200:
        return None
    try:
        detail = str(json.loads(response.body)["error"])
    except (ValueError, KeyError, TypeError, RecursionError):
        detail = f"status {response.status}"
    seconds = response.headers.get("retry-after", "")
    is_number = seconds.isascii() and seconds.isdigit() and len(seconds) < 7
    return GatepostError("status", detail, response.status, float(seconds) if is_number else None)


def _is_json(response: Response) -> bool:
    return response.headers.get("content-type", "").partition(";")[0].strip().lower() == "application/json"


def _json(response: Response) -> Any:
    try:
        if not _is_json(response):
            raise ValueError("another type")
        return json.loads(response.body)
    except (ValueError, RecursionError) as fault:
        raise GatepostError("answer", "the answer is not JSON") from fault


def _fields(response: Response) -> Mapping[str, Any]:
    value = _json(response)
    if not isinstance(value, dict) or not isinstance(value.get("session"), str):
        raise GatepostError("answer", "the answer is not one about a batch")
    return value


def _report(fields: Mapping[str, Any], report: Report) -> None:
    status, done, total = fields.get("status"), fields.get("processed_count", 0), fields.get("email_count")
    if status == "failed":
        raise GatepostError("failed", "the batch failed")
    if not isinstance(status, str) or type(done) is not int or type(total) is not int:
        raise GatepostError("answer", "the answer is not the progress of a batch")
    if report is not None:
        report(Progress(fields["session"], status, done, total))


def _finished(fields: Mapping[str, Any], report: Report) -> BulkResult:
    stats, results = fields.get("stats"), fields["results"]
    if not isinstance(stats, dict) or type(stats.get("unique")) is not int or not isinstance(results, dict):
        raise GatepostError("answer", "the answer has no results")
    if report is not None:
        report(Progress(fields["session"], "completed", stats["unique"], stats["unique"]))
    return BulkResult(fields["session"], stats, {entry: read_result(result) for entry, result in results.items()})
