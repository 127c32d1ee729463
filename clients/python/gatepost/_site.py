"""Where the service is, what is asked of it, and until when."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Dict, Mapping, Optional
from urllib.parse import urlsplit

from ._wire import request_octets
from .results import GatepostError

ANSWER_MAX = 1_000_000


class Deadline:
    """One for all that a call does: name, connection, TLS, sending, reading, waiting, trying again."""

    def __init__(self, ms: float):
        self.ms = ms
        self._end = time.monotonic() + ms / 1000

    def left(self) -> float:
        """Seconds; raises GatepostError when there are none."""
        left = self.left_or_0()
        if left == 0:
            raise self.passed()
        return left

    def left_or_0(self) -> float:
        return max(0.0, self._end - time.monotonic())

    def passed(self) -> GatepostError:
        return GatepostError("timeout", f"no answer within {self.ms:g} ms")


@dataclass(frozen=True)
class Ask:
    method: str
    path: str
    deadline: Deadline
    headers: Mapping[str, str]
    body: Optional[bytes] = None
    limit: int = ANSWER_MAX
    #: May be tried again for minutes.
    is_patient: bool = False


class Site:
    def __init__(self, base: str, key: Optional[str]):
        url = urlsplit(base)
        if url.scheme not in ("http", "https") or not url.hostname or url.query or url.fragment or "@" in url.netloc:
            raise ValueError(f"url: {base!r} is not the http or https address of a Gatepost")
        if key is not None and not (key.isascii() and key.isprintable() and key):
            raise ValueError("key: use the printable key that `gatepost key create` printed")
        self.url = base.rstrip("/")
        self.is_tls = url.scheme == "https"
        self.host = url.hostname
        self.port = url.port or (443 if self.is_tls else 80)
        self._path = url.path.rstrip("/")
        self._headers: Dict[str, str] = {"Host": url.netloc, "Accept": "application/json", "User-Agent": "gatepost-python"}
        if key is not None:
            self._headers["X-Api-Key"] = key

    def octets(self, ask: Ask) -> bytes:
        return request_octets(ask.method, self._path + ask.path, {**self._headers, **ask.headers}, ask.body)
