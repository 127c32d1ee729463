"""The listed names as hashes, for the time when the service does not answer: docs/pocket.md."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from typing import Dict, Tuple, Type, TypeVar

T = TypeVar("T")

SECTIONS = ("domains", "exact", "below", "allowed", "allowed_below")
MAX_OCTETS = 1_000_000
_WIDTH = 5
_FULL_STOP = "\u3002"  # as Chinese and Japanese keyboards write it
_LABELS_MAX = 128


class Pocket:
    """A pocket list. Raises ValueError for a file that is not one."""

    def __init__(self, file: bytes):
        end = file.find(b"\n")
        if end < 0 or len(file) > MAX_OCTETS:
            raise ValueError("not a pocket list")
        head = json.loads(file[:end])
        if not isinstance(head, dict) or head.get("format") != "gatepost-pocket" or head.get("version") != 1:
            raise ValueError("not a pocket list of version 1")
        self._file = file
        self._key = bytes.fromhex(_of_type(head.get("key"), str))
        self._sections: Dict[str, Tuple[int, int]] = {}
        at = end + 1
        for section in SECTIONS:
            count = _of_type(head.get(section), int)
            if count < 0:
                raise ValueError("a section of less than nothing")
            self._sections[section] = (at, count)
            at += count * _WIDTH
        if at != len(file) or len(self._key) != 16:
            raise ValueError("a pocket list of another length than it says")

    def __len__(self) -> int:
        return sum(count for _, count in self._sections.values())

    def lists(self, email: str) -> bool:
        """Whether the service rejects the address, or the domain, for its name alone."""
        name = unicodedata.normalize("NFKC", email.rpartition("@")[2].strip()).lower().replace(_FULL_STOP, ".")
        labels = (name[:-1] if name.endswith(".") else name).split(".")
        for at in range(min(len(labels), _LABELS_MAX)):
            name = ".".join(labels[at:])
            octets = self._key + name.encode("utf-8", "surrogatepass")
            entry = hashlib.sha256(octets).digest()[:_WIDTH]
            passes, stops = ("allowed", "exact") if at == 0 else ("allowed_below", "below")
            if self._has(passes, entry):
                return False
            if self._has("domains", entry) or self._has(stops, entry):
                return True
        return False

    def _has(self, section: str, entry: bytes) -> bool:
        start, count = self._sections[section]
        low, high = 0, count
        while low < high:
            middle = (low + high) // 2
            at = start + middle * _WIDTH
            found = self._file[at : at + _WIDTH]
            if found == entry:
                return True
            if found < entry:
                low = middle + 1
            else:
                high = middle
        return False


def _of_type(value: object, kind: Type[T]) -> T:
    if type(value) is not kind:
        raise ValueError("not a pocket list")
    return value
