"""What is read before the service is asked: the address, the person's language, and the caller's facts."""

from __future__ import annotations

import re
from typing import Any, Optional

EMAIL_MAX = 1_000
MALFORMED = "Please enter a complete email address."

# Unicode white space, U+FEFF and U+200B, as the service trims an address.
_BLANKS = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200C)))

_FACT_MAX = 128

_HEADER_MAX = 1_000
_TAG = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")


def trim_email(text: str) -> str:
    return text.strip(_BLANKS)


def entry_of(email: Any) -> Optional[str]:
    """Without blanks around it; None for what cannot be an address. No text at all is left to the service."""
    if email is None or email == "":
        return ""
    entry = trim_email(email) if isinstance(email, str) else ""
    return entry if 0 < len(entry) <= EMAIL_MAX else None


def facts_of(facts: Any) -> Any:
    """Longer text, a browser's name above all, would be refused, and the sign-up let in. Counted in UTF-16, as the service does."""
    if not isinstance(facts, dict):
        return facts
    return {name: _cut(fact) if isinstance(fact, str) else fact for name, fact in facts.items()}


def _cut(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass")[: 2 * _FACT_MAX].decode("utf-16-le", "ignore")


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
