"""HTTP for threads: connections are kept, and each step has what is left of the deadline."""

from __future__ import annotations

import concurrent.futures
import os
import socket
import ssl
import threading
import time
from typing import List, Optional, Tuple

from ._names import Address, Names
from ._site import Ask, Deadline, Site
from ._wire import Response, read_response
from .results import GatepostError

IDLE_MAX = 8
#: Less than servers and proxies keep a silent connection.
IDLE_S = 4.0
PIECE = 65_536


class _State:
    """What a forked process must not share with its parent."""

    def __init__(self, site: Site):
        self.pid = os.getpid()
        self.lock = threading.Lock()
        self.idle: List[Tuple[socket.socket, float]] = []
        self.names = Names(site.host, site.port)


class Transport:
    def __init__(self, site: Site, context: Optional[ssl.SSLContext]):
        self._site = site
        self.context = context or (ssl.create_default_context() if site.is_tls else None)
        self._mine = _State(site)

    def exchange(self, ask: Ask) -> Response:
        if self._mine.pid != os.getpid():
            parents, self._mine = self._mine.idle, _State(self._site)
            for sock, _ in parents:
                sock.close()  # here alone: the parent speaks on them
        octets = self._site.octets(ask)
        kept = self._take()
        if kept is not None:
            response = self._on(kept, octets, ask, is_kept=True)
            if response is not None:
                return response
        response = self._on(self._connect(ask.deadline), octets, ask, is_kept=False)
        assert response is not None
        return response

    def close(self) -> None:
        with self._mine.lock:
            idle, self._mine.idle = self._mine.idle, []
        for sock, _ in idle:
            sock.close()

    def _on(self, sock: socket.socket, octets: bytes, ask: Ask, is_kept: bool) -> Optional[Response]:
        """None: a kept connection was closed before the service answered a first octet."""
        silent = True
        try:
            sock.settimeout(ask.deadline.left())
            sock.sendall(octets)
            reader = read_response(ask.limit)
            next(reader)
            while True:
                sock.settimeout(ask.deadline.left())
                piece = sock.recv(PIECE)
                silent = silent and not piece
                reader.send(piece)
        except StopIteration as end:
            response: Response = end.value
            if response.reusable:
                self._keep(sock)
            else:
                sock.close()
            return response
        except socket.timeout:
            sock.close()
            raise ask.deadline.passed() from None
        except (OSError, GatepostError) as fault:
            sock.close()
            if is_kept and silent and getattr(fault, "kind", "network") == "network":
                return None
            raise fault if isinstance(fault, GatepostError) else GatepostError("network", str(fault)) from fault
        except BaseException:
            sock.close()
            raise

    def _take(self) -> Optional[socket.socket]:
        while True:
            with self._mine.lock:
                if not self._mine.idle:
                    return None
                sock, since = self._mine.idle.pop()
            if time.monotonic() - since < IDLE_S and _is_silent(sock):
                return sock
            sock.close()

    def _keep(self, sock: socket.socket) -> None:
        with self._mine.lock:
            if len(self._mine.idle) < IDLE_MAX:
                self._mine.idle.append((sock, time.monotonic()))
                return
        sock.close()

    def _connect(self, deadline: Deadline) -> socket.socket:
        try:
            addresses = self._addresses(deadline)
            fault: Exception = OSError("no address")
            for at, address in enumerate(addresses):
                try:
                    return self._open(address, deadline, deadline.left() / (len(addresses) - at))
                except socket.timeout:
                    fault = deadline.passed()
                except OSError as broken:
                    fault = broken
            raise fault
        except OSError as broken:
            raise GatepostError("network", str(broken)) from broken

    def _addresses(self, deadline: Deadline) -> List[Address]:
        known, running = self._mine.names.ask()
        if known is not None:
            return known
        try:
            return running.result(deadline.left())
        except concurrent.futures.TimeoutError:
            raise deadline.passed() from None

    def _open(self, address: Address, deadline: Deadline, within: float) -> socket.socket:
        sock = socket.socket(address[0], socket.SOCK_STREAM)
        try:
            sock.settimeout(within)
            sock.connect(address[1])
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.context is not None:
                sock = self.context.wrap_socket(sock, server_hostname=self._site.host, do_handshake_on_connect=False)
                sock.settimeout(deadline.left())
                sock.do_handshake()
            return sock
        except BaseException:
            sock.close()
            raise


def _is_silent(sock: socket.socket) -> bool:
    """An idle connection that has something to say was closed by the server."""
    sock.settimeout(0)
    try:
        socket.socket.recv(sock, 1, socket.MSG_PEEK)
    except BlockingIOError:
        return True
    except OSError:
        pass
    return False
