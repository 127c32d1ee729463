"""HTTP/1.1 without sockets, so that the client for threads and the one for asyncio share it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Dict, Generator, Mapping, Optional, Tuple

from .results import GatepostError

_HEAD_MAX = 16_384

#: Asks for octets; b"" means that the connection ended.
Reading = Generator[None, bytes, "Response"]


@dataclass(frozen=True)
class Response:
    status: int
    headers: Mapping[str, str]
    body: bytes
    #: The connection may carry another request.
    reusable: bool


def request_octets(method: str, target: str, headers: Mapping[str, str], body: Optional[bytes]) -> bytes:
    lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    head = "\r\n".join(lines) + "\r\n\r\n"
    return head.encode("latin-1") + (body or b"")


def read_response(limit: int) -> Reading:
    """Drive it with ``send``. Raises GatepostError for anything that is not HTTP, or longer than ``limit``."""
    buffer = bytearray()
    while True:
        head, status, headers = yield from _read_head(buffer)
        del buffer[:head]
        if status >= 200:
            break
    is_kept = headers.get("connection", "").lower() != "close" and headers.get(":version") == "HTTP/1.1"
    if status in (204, 304):
        return Response(status, headers, b"", is_kept and not buffer)
    if "transfer-encoding" in headers:
        if headers["transfer-encoding"].strip().lower() != "chunked":
            raise _broken("an unknown transfer encoding")
        body = yield from _read_chunks(buffer, limit)
    elif "content-length" in headers:
        length = _number(headers["content-length"], 10)
        if length > limit:
            raise _broken(f"an answer of more than {limit} octets")
        yield from _fill(buffer, length)
        body = bytes(buffer[:length])
        del buffer[:length]
    else:
        body = yield from _read_to_end(buffer, limit)
        is_kept = False
    return Response(status, headers, body, is_kept and not buffer)


def _broken(detail: str) -> GatepostError:
    return GatepostError("answer", detail)


def _number(text: str, base: int) -> int:
    digits = text.strip().lower()
    if not digits or len(digits) > 12 or any(digit not in "0123456789abcdef"[:base] for digit in digits):
        raise _broken("a length that is not a number")
    return int(digits, base)


def _more(buffer: bytearray) -> Generator[None, bytes, None]:
    piece = yield
    if not piece:
        raise GatepostError("network", "the connection ended before the answer did")
    buffer += piece


def _fill(buffer: bytearray, length: int) -> Generator[None, bytes, None]:
    while len(buffer) < length:
        yield from _more(buffer)


def _read_head(buffer: bytearray) -> Generator[None, bytes, Tuple[int, int, Dict[str, str]]]:
    while True:
        end = buffer.find(b"\r\n\r\n")
        if end >= 0:
            break
        if len(buffer) > _HEAD_MAX:
            raise _broken("headers of more than 16 KiB")
        yield from _more(buffer)
    first, *lines = bytes(buffer[:end]).decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    if version not in ("HTTP/1.1", "HTTP/1.0") or not rest[:3].isascii() or not rest[:3].isdigit() or rest[3:4] not in ("", " "):
        raise _broken("an answer that is not HTTP/1.1")
    headers = {":version": version}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise _broken("a header without a colon")
        headers[name.lower()] = value.strip()
    return end + 4, int(rest[:3]), headers


def _read_chunks(buffer: bytearray, limit: int) -> Generator[None, bytes, bytes]:
    body = bytearray()
    while True:
        line = yield from _read_line(buffer)
        size = _number(line.partition(";")[0], 16)
        if size == 0:
            break
        if len(body) + size > limit:
            raise _broken(f"an answer of more than {limit} octets")
        yield from _fill(buffer, size + 2)
        if buffer[size : size + 2] != b"\r\n":
            raise _broken("a chunk of another length than it says")
        body += buffer[:size]
        del buffer[: size + 2]
    while (yield from _read_line(buffer)):
        pass  # trailers
    return bytes(body)


def _read_line(buffer: bytearray) -> Generator[None, bytes, str]:
    while True:
        end = buffer.find(b"\r\n")
        if end >= 0:
            break
        if len(buffer) > _HEAD_MAX:
            raise _broken("a line of more than 16 KiB")
        yield from _more(buffer)
    line = bytes(buffer[:end]).decode("latin-1")
    del buffer[: end + 2]
    return line


def _read_to_end(buffer: bytearray, limit: int) -> Generator[None, bytes, bytes]:
    while len(buffer) <= limit:
        piece = yield
        if not piece:
            return bytes(buffer)
        buffer += piece
    raise _broken(f"an answer of more than {limit} octets")
