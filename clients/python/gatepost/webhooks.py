"""Verifies what a webhook of Gatepost says."""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Optional


def verify_webhook(body: bytes, signature: Optional[str], secret: str) -> bool:
    """Whether ``signature``, the value of X-Service-Signature, signs the body as it came, before any JSON was read."""
    if not secret or signature is None or re.fullmatch(r"[0-9a-f]{64}", signature) is None:
        return False
    expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected, signature)
