"""HTTP for asyncio: the same requests over its streams."""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from typing import Callable, List, Optional, Tuple, TypeVar

from ._names import Address, Names
from ._site import Ask, Deadline, Site
from ._threads import IDLE_MAX, IDLE_S, PIECE
from ._wire import Response, read_response
from .results import GatepostError

T = TypeVar("T")
_Streams = Tuple[asyncio.StreamReader, asyncio.StreamWriter]


class _State:
    """What belongs to one event loop of one process."""

    def __init__(self, site: Site):
        self.loop = asyncio.get_running_loop()
        self.pid = os.getpid()
        self.idle: List[Tuple[_Streams, float]] = []
        self.names = Names(site.host, site.port)


class AsyncTransport:
    def __init__(self, site: Site, context: Optional[ssl.SSLContext]):
        self._site = site
        self._context = context or (ssl.create_default_context() if site.is_tls else None)
        self._mine: Optional[_State] = None

    async def exchange(self, ask: Ask) -> Response:
        working = asyncio.ensure_future(self._exchange(ask))
        if not await _ends(working, ask.deadline.left(), _forget):
            raise ask.deadline.passed()
        return working.result()

    async def close(self) -> None:
        if self._mine is not None:
            idle, self._mine.idle = self._mine.idle, []
            for (_, writer), _ in idle:
                writer.close()

    async def _exchange(self, ask: Ask) -> Response:
        mine = self._mine
        if mine is None or mine.loop is not asyncio.get_running_loop() or mine.pid != os.getpid():
            mine = self._mine = _State(self._site)
        octets = self._site.octets(ask)
        kept = _take(mine)
        if kept is not None:
            response = await self._on(mine, kept, octets, (ask, True))
            if response is not None:
                return response
        streams = await self._connect(mine, ask.deadline)
        response = await self._on(mine, streams, octets, (ask, False))
        assert response is not None
        return response

    async def _on(self, mine: _State, streams: _Streams, octets: bytes, asked: Tuple[Ask, bool]) -> Optional[Response]:
        """None: a kept connection was closed before the service answered a first octet."""
        ask, is_kept = asked
        source, writer = streams
        silent = True
        try:
            writer.write(octets)
            await writer.drain()
            reader = read_response(ask.limit)
            next(reader)
            while True:
                piece = await source.read(PIECE)
                silent = silent and not piece
                try:
                    reader.send(piece)
                except StopIteration as end:
                    response: Response = end.value
                    break
        except (OSError, GatepostError) as fault:
            writer.close()
            if is_kept and silent and getattr(fault, "kind", "network") == "network":
                return None
            raise fault if isinstance(fault, GatepostError) else GatepostError("network", str(fault)) from fault
        except BaseException:
            writer.close()
            raise
        if response.reusable and len(mine.idle) < IDLE_MAX:
            mine.idle.append((streams, time.monotonic()))
        else:
            writer.close()
        return response

    async def _connect(self, mine: _State, deadline: Deadline) -> _Streams:
        try:
            addresses = await _addresses(mine.names)
            fault: Exception = OSError("no address")
            for at, (_, address) in enumerate(addresses):
                within = deadline.left() / (len(addresses) - at)
                name = self._site.host if self._context is not None else None
                opening = asyncio.ensure_future(
                    asyncio.open_connection(address[0], address[1], ssl=self._context, server_hostname=name)
                )
                try:
                    if await _ends(opening, within, _close):
                        return opening.result()
                    fault = deadline.passed()
                except OSError as broken:
                    fault = broken
            raise fault
        except OSError as broken:
            raise GatepostError("network", str(broken)) from broken


async def _ends(work: "asyncio.Future[T]", within: float, after: "Callable[[asyncio.Future[T]], None]") -> bool:
    """Whether the work ends in time; otherwise it is cancelled, and ``after`` gets what becomes of it.

    Not asyncio.wait_for: before Python 3.12 that loses a cancellation which comes together with a result, and waits for
    cancelled work for as long as that takes.
    """
    done = False
    try:
        done = bool((await asyncio.wait({work}, timeout=within))[0])
    finally:
        if not done:
            work.cancel()
            work.add_done_callback(after)
    return done


def _forget(work: "asyncio.Future[Response]") -> None:
    if not work.cancelled():
        work.exception()


def _close(opening: "asyncio.Future[_Streams]") -> None:
    if not opening.cancelled() and opening.exception() is None:
        opening.result()[1].close()


async def _addresses(names: Names) -> List[Address]:
    known, running = names.ask()
    return known if known is not None else await asyncio.shield(asyncio.wrap_future(running))


def _take(mine: _State) -> Optional[_Streams]:
    while mine.idle:
        (source, writer), since = mine.idle.pop()
        if time.monotonic() - since < IDLE_S and not source.at_eof() and not writer.is_closing():
            return source, writer
        writer.close()
    return None
