"""Verifies what a webhook of Gatepost says."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Optional, Union

RawBody = Union[bytes, bytearray, memoryview, str, None]


def verify_webhook(body: RawBody, signature: Optional[str], secret: Optional[str]) -> bool:
    """Whether ``signature``, the value of X-Service-Signature, signs the body as it came, before any JSON was read.

    False without a body, a signature or a secret. Raises TypeError for a body that was parsed: its octets are gone.
    """
    if body is None:
        return False
    if isinstance(body, str):
        body = body.encode("utf-8", "surrogatepass")
    if not isinstance(body, (bytes, bytearray, memoryview)):
        raise TypeError("body: give the raw body as bytes or text, not what a parser made of it: docs/webhooks.md.")
    if not isinstance(secret, str) or not secret or not isinstance(signature, str):
        return False
    if re.fullmatch(r"[0-9a-f]{64}", signature) is None:
        return False
    expected = hmac.new(secret.encode("utf-8", "surrogatepass"), bytes(body), hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, signature)
