"""Looks up the service's name in a thread, because the system's resolver knows no deadline."""

from __future__ import annotations

import socket
import threading
import time
from concurrent.futures import Future
from typing import Any, List, Optional, Tuple

#: Family and address, as sockets take them.
Address = Tuple[int, Tuple[Any, ...]]

_FRESH_S = 30


class Names:
    """One lookup at a time: a resolver that hangs holds up one thread. Old addresses serve meanwhile."""

    def __init__(self, host: str, port: int):
        self._host, self._port = host, port
        self._lock = threading.Lock()
        self._known: Optional[List[Address]] = None
        self._known_at = 0.0
        self._running: "Future[List[Address]]" = Future()
        self._running.cancel()

    def ask(self) -> "Tuple[Optional[List[Address]], Future[List[Address]]]":
        """What is known, however old it is, and the lookup that will say it anew."""
        with self._lock:
            is_fresh = self._known is not None and time.monotonic() - self._known_at < _FRESH_S
            if not is_fresh and self._running.done():
                self._running = Future()
                threading.Thread(target=self._look_up, args=(self._running,), daemon=True).start()
            return self._known, self._running

    def _look_up(self, future: "Future[List[Address]]") -> None:
        try:
            found = socket.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
            addresses: List[Address] = [(int(family), tuple(address)) for family, _, _, _, address in found]
        except (OSError, UnicodeError) as fault:
            future.set_exception(OSError(f"no address of {self._host}: {fault}"))
        else:
            with self._lock:
                self._known, self._known_at = addresses, time.monotonic()
            future.set_result(addresses)
