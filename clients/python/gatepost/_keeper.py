"""Keeps the pocket list fresh in the background."""

from __future__ import annotations

import os
import random
import tempfile
import threading
from typing import Callable, Optional

from ._core import Core
from .pocket import Pocket
from .results import GatepostError

_EVERY_S = 3_600
_AGAIN_S = 60
_WITHIN_MS = 30_000


class Keeper:
    """A daemon thread that starts with the first decision, and again in a forked process."""

    def __init__(self, core: Core, fetch: Callable[[float], Optional[bytes]], path: Optional[str]):
        self._core = core
        self._fetch = fetch
        self._path = path
        self._pid: Optional[int] = None
        self._ended = threading.Event()
        self._read()

    def start(self) -> None:
        if self._pid == os.getpid() or self._ended.is_set():
            return
        self._pid = os.getpid()
        threading.Thread(target=self._run, name="gatepost-pocket", daemon=True).start()

    def close(self) -> None:
        self._ended.set()

    def refresh(self) -> bool:
        try:
            file = self._fetch(_WITHIN_MS)
            if file is not None and self._path is not None:
                self._write(file, self._path)
            return True
        except (GatepostError, OSError) as fault:
            self._core.tell(fault if isinstance(fault, GatepostError) else GatepostError("request", str(fault)), "pocket")
            return False

    def _run(self) -> None:
        while not self._ended.is_set():
            seconds = _EVERY_S if self.refresh() else _AGAIN_S
            self._ended.wait(seconds * random.uniform(0.9, 1.1))

    def _read(self) -> None:
        """A file of an earlier process; without a good one there is no list until the service sends it."""
        try:
            if self._path is not None:
                with open(self._path, "rb") as file:
                    self._core.pocket = Pocket(file.read())
        except (OSError, ValueError):
            pass

    @staticmethod
    def _write(file: bytes, path: str) -> None:
        handle, made = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)))
        try:
            with os.fdopen(handle, "wb") as new:
                new.write(file)
            os.replace(made, path)
        except BaseException:
            os.unlink(made)
            raise
