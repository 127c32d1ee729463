"""What the client answers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Dict, List, Mapping, Optional

#: What a policy can decide.
DECISIONS = ("accept", "challenge", "review", "reject")


class GatepostError(Exception):
    """The service did not answer, or refused.

    ``kind`` is ``timeout`` (the deadline passed), ``network`` (name, connection, TLS), ``status`` (a refusal, or a fault of
    the service; see ``status``), ``answer`` (not what the service says), ``failed`` (a batch failed) or ``request`` (cannot be
    sent). ``session`` is that of a batch: give it to ``resume_bulk``.
    """

    def __init__(self, kind: str, detail: str, status: Optional[int] = None, retry_after: Optional[float] = None):
        super().__init__(detail)
        self.kind = kind
        self.status = status
        self.retry_after = retry_after
        self.session: Optional[str] = None


@dataclass(frozen=True)
class Policy:
    name: str
    version: int


@dataclass(frozen=True)
class Mailbox:
    id: str
    #: Spellings of 7 days, if the account counts them.
    seen: Optional[int] = None
    #: By which alias rules the id was made.
    rules: Optional[int] = None


@dataclass(frozen=True)
class Decision:
    """``source`` says who decided: ``service``, ``away`` (the declared answer; ``fault`` says why the service did not), or
    ``client``: the text is no address, so the service was not asked."""

    decision: str
    reason: str
    message: Optional[str] = None
    did_you_mean: Optional[str] = None
    complete: bool = False
    policy: Optional[Policy] = None
    mailbox: Optional[Mailbox] = None
    result: Optional["Result"] = None
    token: Optional[str] = None
    source: str = "service"
    fault: Optional[GatepostError] = None
    #: Where ``evt`` was sent: ``yes``, ``no`` or ``unknown``.
    verified: Optional[str] = None
    #: The issuer of the proof says that the address hides another one.
    private_address: bool = False
    #: With ``too_often``, ``many`` and ``busy``: seconds until it is worth asking again.
    retry_after: Optional[int] = None
    #: Distinct mailboxes before this one, by the names of ``count_by`` and ``net``: ``{"ip": {"10m": 3, "day": 12, "30d": 40}}``.
    counts: Optional[Mapping[str, Mapping[str, int]]] = None


@dataclass(frozen=True)
class MaySend:
    """Of ``may_send`` and ``may_invite``; true where ``send`` is.

    ``send``: the policy accepts, or nobody answered. ``ask``: the policy wants a question or a CAPTCHA first; ask again with
    ``confirmed``. ``retry_after`` is in seconds; ``message`` is for the person.
    """

    send: bool
    ask: bool
    reason: str
    retry_after: Optional[int] = None
    message: Optional[str] = None
    did_you_mean: Optional[str] = None

    def __bool__(self) -> bool:
        return self.send


def may_send_of(said: Decision) -> MaySend:
    send = said.source == "away" or said.decision == "accept"
    ask = said.source == "service" and said.decision == "challenge"
    return MaySend(send, ask, said.reason, said.retry_after, said.message, said.did_you_mean)


MALFORMED = Decision("reject", "format", message="Please enter a complete email address.", complete=True, source="client")
_BUSY = Decision("reject", "busy", message="Please try again in a minute.", source="client")


def refused_by(fault: GatepostError) -> Optional[Decision]:
    """By ``statuses`` in clients/cases.json: what a visitor can provoke is refused; None for every other fault."""
    if fault.status in (400, 413, 422):
        return replace(MALFORMED, fault=fault)
    if fault.status != 429:
        return None
    return replace(_BUSY, fault=fault, retry_after=None if fault.retry_after is None else int(fault.retry_after))


@dataclass(frozen=True)
class Result:
    """The result of a single check. ``fields`` has all of it as the service wrote it."""

    format: bool
    domain: str
    disposable: bool
    dns: bool
    confidence: int
    whitelist: bool
    signals: List[str]
    role: bool
    free: bool
    alias: Optional[bool] = None
    did_you_mean: Optional[str] = None
    fields: Mapping[str, Any] = field(default_factory=dict, repr=False)


@dataclass(frozen=True)
class Progress:
    #: For ``resume_bulk``, also after a restart; results are kept for 15 minutes.
    session: str
    status: str
    done: int
    total: int


@dataclass(frozen=True)
class BulkResult:
    session: str
    stats: Mapping[str, Any]
    #: By entry, as it was sent.
    results: Dict[str, Result]


@dataclass(frozen=True)
class TokenResult:
    """``reason`` says why a token is not good: ``malformed``, ``signature``, ``expired``, ``account``, ``address``, ``form``
    or ``replayed``. ``complete`` is false when DNS did not answer in time: ask the service again if that matters."""

    ok: bool
    claims: Optional[Mapping[str, Any]] = None
    reason: Optional[str] = None
    complete: bool = False


def _text(value: Any) -> Optional[str]:
    if value is not None and not isinstance(value, str):
        raise _unlike()
    return value


def _seconds(value: Any) -> Optional[int]:
    return value if type(value) is int and 0 <= value < 1_000_000 else None


def _unlike() -> GatepostError:
    return GatepostError("answer", "the answer is not one of Gatepost")


def read_decision(body: Any) -> Decision:
    """Refuses whatever could block a person without a reason."""
    try:
        if body["decision"] not in DECISIONS or not _is_reason(body["reason"]) or type(body["complete"]) is not bool:
            raise _unlike()
        policy, mailbox, result = body["policy"], body.get("mailbox"), body.get("result")
        return Decision(
            decision=body["decision"],
            reason=body["reason"],
            message=_text(body.get("message")),
            did_you_mean=_text(body.get("did_you_mean")),
            complete=body["complete"],
            policy=Policy(policy["name"], policy["version"]),
            mailbox=None if mailbox is None else Mailbox(mailbox["id"], mailbox.get("seen"), mailbox.get("rules")),
            result=None if result is None else read_result(result),
            token=_text(body.get("token")),
            retry_after=_seconds(body.get("retry_after")),
            verified=_text(body.get("verified")),
            private_address=body.get("private_address") is True,
            counts=body.get("counts") if isinstance(body.get("counts"), dict) else None,
        )
    except (KeyError, TypeError, AttributeError) as fault:
        raise _unlike() from fault


def _is_reason(value: Any) -> bool:
    letters = "abcdefghijklmnopqrstuvwxyz_"
    return isinstance(value, str) and 0 < len(value) <= 32 and all(letter in letters for letter in value)


def read_result(body: Any) -> Result:
    if not isinstance(body, dict):
        raise _unlike()
    names = ("format", "disposable", "dns", "whitelist", "role", "free")
    if any(type(body.get(name)) is not bool for name in names) or not isinstance(body.get("domain"), str):
        raise _unlike()
    if type(body.get("confidence")) is not int or not isinstance(body.get("signals"), list):
        raise _unlike()
    known = {name: body[name] for name in names}
    return Result(
        **known,
        domain=body["domain"],
        confidence=body["confidence"],
        signals=body["signals"],
        alias=body.get("alias"),
        did_you_mean=body.get("did_you_mean"),
        fields=body,
    )
