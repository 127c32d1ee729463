"""What is read before the service is asked: the address, the person's language, and the caller's facts."""

from __future__ import annotations

import re
from typing import Any, Optional

EMAIL_MAX = 1_000

# Unicode white space, U+FEFF and U+200B, as the service trims an address.
_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200C)))

_TEXT_MAX = 128

_PORT = re.compile(r"\[([^\]]*)\](?::\d+)?|([\d.]+):\d+")
_IP = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|[0-9a-fA-F]{0,4}:[0-9a-fA-F:.]{1,42}")

_HEADER_MAX = 1_000
_TAG = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")


def trim_email(text: str) -> str:
    return text.strip(_BLANKS)


def entry_of(email: Any) -> Optional[str]:
    """Without blanks around it; None for what cannot be an address."""
    entry = trim_email(email) if isinstance(email, str) else ""
    return entry if 0 < len(entry) <= EMAIL_MAX else None


def facts_of(facts: Any) -> Any:
    """Visitors write some of it, a browser's name above all: what is too long is cut, what is no fact is left out. Counted in
    UTF-16, as the service does."""
    if not isinstance(facts, dict):
        return facts
    kept = {name: fact for name, fact in facts.items() if isinstance(fact, (str, int, float))}
    return {name: _cut(fact) if isinstance(fact, str) else fact for name, fact in kept.items()}


def count_by_of(names: Any) -> Any:
    """What is no text is left out, and so is an ``ip`` that is none; longer text is cut."""
    texts = {name: text for name, text in dict(names or {}).items() if isinstance(text, str)}
    kept = {name: _ip_of(text.strip()) if name == "ip" else _cut(text) for name, text in texts.items()}
    return {name: text for name, text in kept.items() if text}


def _ip_of(text: str) -> str:
    """Without what proxies write beside an address: a port, brackets, a zone."""
    found = _PORT.fullmatch(text)
    bare = (found[1] or found[2] or "" if found else text).partition("%")[0]
    return bare if _IP.fullmatch(bare) else ""


def _cut(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass")[: 2 * _TEXT_MAX].decode("utf-16-le", "ignore")


def language_of(header: Any) -> Optional[str]:
    """The language that a person likes best: of a tag, or of a whole Accept-Language header (RFC 9110 section 12.5.4)."""
    best, weight = None, 0.0
    for part in header[:_HEADER_MAX].split(",")[:20] if isinstance(header, str) else ():
        tag, *rest = (each.strip() for each in part.split(";"))
        tag, q = tag.replace("_", "-"), _weight_of(rest)
        if q > weight and _TAG.fullmatch(tag):
            best, weight = tag, q
    return best


def _weight_of(parameters: Any) -> float:
    for each in parameters:
        if each[:2].lower() == "q=":
            try:
                return float(each[2:])
            except ValueError:
                return 0.0
    return 1.0
