"""Verifies Ed25519 signatures (RFC 8032). Python's standard library cannot.

Verifying uses public values only, so the time it takes gives nothing away. Never sign with this arithmetic.
"""

from __future__ import annotations

import hashlib
from typing import Optional, Tuple

# RFC 8032 section 5.1: the field, the order of the base point, the curve's d, a square root of -1.
_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)

# Extended coordinates (X, Y, Z, T): x = X/Z, y = Y/Z, x * y = T/Z.
_Point = Tuple[int, int, int, int]
_NEUTRAL: _Point = (0, 1, 1, 0)


def _add(p: _Point, q: _Point) -> _Point:
    a = (p[1] - p[0]) * (q[1] - q[0]) % _P
    b = (p[1] + p[0]) * (q[1] + q[0]) % _P
    c = 2 * p[3] * q[3] * _D % _P
    d = 2 * p[2] * q[2] % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _decode(octets: bytes) -> Optional[_Point]:
    """None if the octets are not the one encoding of a point."""
    number = int.from_bytes(octets, "little")
    sign, y = number >> 255, number & (2**255 - 1)
    if y >= _P:
        return None
    u, v = (y * y - 1) % _P, (_D * y * y + 1) % _P
    x = u * pow(v, 3, _P) * pow(u * pow(v, 7, _P), (_P - 5) // 8, _P) % _P
    if (v * x * x - u) % _P != 0:
        x = x * _ROOT % _P
    if (v * x * x - u) % _P != 0 or (x == 0 and sign == 1):
        return None
    if x & 1 != sign:
        x = _P - x
    return (x, y, 1, x * y % _P)


def _encode(p: _Point) -> bytes:
    inverse = pow(p[2], _P - 2, _P)
    x, y = p[0] * inverse % _P, p[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def _base() -> _Point:
    point = _decode((4 * pow(5, _P - 2, _P) % _P).to_bytes(32, "little"))
    assert point is not None
    return point


_BASE = _base()


def _sum(s: int, p: _Point, h: int, q: _Point) -> _Point:
    """s * p + h * q"""
    table = (_NEUTRAL, p, q, _add(p, q))
    result = _NEUTRAL
    for bit in range(max(s.bit_length(), h.bit_length()) - 1, -1, -1):
        result = _add(result, result)
        index = (s >> bit & 1) | (h >> bit & 1) << 1
        if index:
            result = _add(result, table[index])
    return result


def _is_small(p: _Point) -> bool:
    """A point of order 8 or less, which signs everything."""
    for _ in range(3):
        p = _add(p, p)
    return p[0] == 0 and p[1] == p[2]


def verify(key: bytes, message: bytes, signature: bytes) -> bool:
    """Whether `signature` signs `message` for the public `key`. Wrong lengths are False."""
    if len(key) != 32 or len(signature) != 64:
        return False
    point = _decode(key)
    s = int.from_bytes(signature[32:], "little")
    # A larger s is the same signature written differently: RFC 8032 section 5.1.7 refuses it.
    if point is None or _is_small(point) or s >= _ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + key + message).digest()
    h = int.from_bytes(digest, "little") % _ORDER
    minus = (_P - point[0], point[1], 1, _P - point[3])
    return _encode(_sum(s, _BASE, h, minus)) == signature[:32]
