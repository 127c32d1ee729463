"""Verifies tokens offline: docs/tokens.md."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import threading
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

from ._entry import trim_email
from .results import TokenResult

#: Gets the id of a token and when the token ends; true the first time.
FirstUse = Callable[[str, float], bool]

_LONGEST = 4096


class _Bad(Exception):
    pass


def check_secrets(secrets: Sequence[str]) -> None:
    """Raises ValueError: with an empty secret anybody could sign."""
    for secret in secrets:
        if not isinstance(secret, str) or re.fullmatch("gp_sign_[A-Za-z0-9_-]{43}", secret) is None:
            raise ValueError("token_secret: a token secret is gp_sign_ and 43 characters")


def verify_token(
    token: str,
    email: str,
    secrets: Sequence[str],
    now: float,
    first_use: FirstUse,
    *,
    account: Optional[str] = None,
    form: Optional[str] = None,
) -> TokenResult:
    """``secrets``: those of the account, any of which may have signed. ``account`` and ``form`` are checked if given."""
    check_secrets(secrets)
    try:
        claims = _claims(token, secrets)
        _check(claims, email, now, account, form)
    except _Bad as bad:
        return TokenResult(False, None, str(bad))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return TokenResult(False, None, "malformed")
    if not first_use(claims["jti"], claims["exp"]):
        return TokenResult(False, None, "replayed")
    return TokenResult(True, claims, complete=claims["cpl"])


def _claims(token: str, secrets: Sequence[str]) -> Mapping[str, Any]:
    parts = token.split(".", 3)
    if len(token) > _LONGEST or len(parts) != 3:
        raise _Bad("malformed")
    header = json.loads(decode(parts[0]))
    if header["alg"] != "HS256" or header["typ"] != "gatepost+jwt" or "crit" in header:
        raise _Bad("malformed")
    signed, signature = f"{parts[0]}.{parts[1]}".encode(), decode(parts[2])
    made = [hmac.new(secret.encode(), signed, hashlib.sha256).digest() for secret in secrets]
    if not any([hmac.compare_digest(each, signature) for each in made]):
        raise _Bad("signature")
    claims: Mapping[str, Any] = json.loads(decode(parts[1]))
    return claims


def _check(claims: Mapping[str, Any], email: str, now: float, account: Optional[str], form: Optional[str]) -> None:
    exp, jti = claims["exp"], claims["jti"]
    if type(exp) is not int or type(claims["cpl"]) is not bool or re.fullmatch("[0-9a-f]{32}", jti) is None:
        raise _Bad("malformed")
    if exp <= now:
        raise _Bad("expired")
    if account is not None and claims.get("aud") != account:
        raise _Bad("account")
    address = trim_email(email).encode("utf-8", "surrogatepass")
    if claims.get("sub") != encode(hashlib.sha256(address).digest()):
        raise _Bad("address")
    if form is not None and claims.get("form") != form:
        raise _Bad("form")


def encode(octets: bytes) -> str:
    return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()


def decode(part: str) -> bytes:
    """A value has one encoding: ValueError for anything else."""
    octets = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))
    if encode(octets) != part:
        raise ValueError("not base64url")
    return octets


class UsedTokens:
    """Remembers ids in this process until they end. With several processes, keep them where all see them."""

    def __init__(self, now: Callable[[], float], most: int = 100_000):
        self._now = now
        self._most = most
        self._until: Dict[str, float] = {}
        self._lock = threading.Lock()

    def __call__(self, jti: str, exp: float) -> bool:
        with self._lock:
            if jti in self._until:
                return False
            if len(self._until) >= self._most:
                now = self._now()
                self._until = {each: end for each, end in self._until.items() if end > now}
            if len(self._until) >= self._most:
                return False  # refuse rather than forget: the caller asks the service then
            self._until[jti] = exp
            return True
