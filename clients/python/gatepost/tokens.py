"""Verifies tokens offline: docs/tokens.md."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Tuple

from . import ed25519
from .results import TokenResult

#: Gets the id of a token and when the token ends; true the first time.
FirstUse = Callable[[str, float], bool]

_LONGEST = 4096


class _Bad(Exception):
    pass


def verify_token(
    token: str,
    email: str,
    keys: Iterable[Mapping[str, Any]],
    issuer: str,
    now: float,
    first_use: FirstUse,
) -> TokenResult:
    """``keys`` are those of /.well-known/jwks.json, ``issuer`` is the public URL of the service."""
    try:
        return TokenResult(True, _claims(token, email, list(keys), (issuer, now, first_use)))
    except _Bad as bad:
        return TokenResult(False, None, str(bad))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return TokenResult(False, None, "malformed")


def _claims(
    token: str, email: str, keys: List[Mapping[str, Any]], asked: Tuple[str, float, FirstUse]
) -> Mapping[str, Any]:
    parts = token.split(".")
    if len(token) > _LONGEST or len(parts) != 3:
        raise _Bad("malformed")
    key = _key(json.loads(decode(parts[0])), keys)
    signed = f"{parts[0]}.{parts[1]}".encode()
    if not ed25519.verify(key, signed, decode(parts[2])):
        raise _Bad("signature")
    claims: Mapping[str, Any] = json.loads(decode(parts[1]))
    _check(claims, email, *asked)
    return claims


def _key(header: Mapping[str, Any], keys: List[Mapping[str, Any]]) -> bytes:
    kid = header["kid"]
    if header["alg"] != "EdDSA" or header["typ"] != "gatepost+jwt" or not isinstance(kid, str) or "crit" in header:
        raise _Bad("malformed")
    for key in keys:
        if key.get("kid") == kid and key.get("kty") == "OKP" and key.get("crv") == "Ed25519":
            return decode(key["x"])
    raise _Bad("unknown_key")


# Unicode white space, U+FEFF and U+200B, as the service trims an address.
_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200C)))


def _check(claims: Mapping[str, Any], email: str, issuer: str, now: float, first_use: FirstUse) -> None:
    exp, jti = claims.get("exp"), claims.get("jti")
    if type(exp) is not int or not isinstance(jti, str) or re.fullmatch("[0-9a-f]{32}", jti) is None:
        raise _Bad("malformed")
    if claims.get("iss") != issuer:
        raise _Bad("issuer")
    if exp <= now:
        raise _Bad("expired")
    address = email.strip(_BLANKS).encode("utf-8", "surrogatepass")
    if claims.get("sub") != encode(hashlib.sha256(address).digest()):
        raise _Bad("address")
    if not first_use(jti, exp):
        raise _Bad("replayed")


def kid_of(token: str) -> Optional[str]:
    try:
        kid = json.loads(decode(token[:_LONGEST].split(".")[0]))["kid"]
        return kid if isinstance(kid, str) else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


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
