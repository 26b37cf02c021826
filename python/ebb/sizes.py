"""Sizes as people write them: "8GiB", "512MB", "60%", 1073741824."""

from __future__ import annotations

import re
from typing import NamedTuple, Union

Size = Union[int, str]

_UNITS = {
    "": 1,
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KIB": 2**10,
    "MIB": 2**20,
    "GIB": 2**30,
    "TIB": 2**40,
}
_TEXT = re.compile(r"\s*([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([A-Za-z]*|%)\s*")


class Amount(NamedTuple):
    """Bytes, or a share (0.6 for 60 %) of something that is not known yet. One of them is None."""

    bytes: int | None
    share: float | None


def parse_amount(size: Size) -> Amount:
    """Raises ValueError or TypeError with a sentence."""
    if isinstance(size, bool) or not isinstance(size, (int, str)):
        raise TypeError(f"a size is a number of bytes or a text such as '8GiB' or '60%', not {size!r}")
    if isinstance(size, int):
        return Amount(_positive(size, size), None)
    match = _TEXT.fullmatch(size)
    if match is None:
        raise ValueError(f"size {size!r}: a number and a unit are expected, such as '8GiB', '512MB' or '60%'")
    number, unit = float(match[1]), match[2]
    if unit == "%":
        if number <= 0:
            raise ValueError(f"size {size!r}: a share above 0 % is expected")
        return Amount(None, number / 100)
    if unit.upper() not in _UNITS:
        raise ValueError(f"size {size!r}: there is no unit {unit!r}; KiB, MiB, GiB, TiB and KB, MB, GB, TB are known")
    return Amount(_positive(int(number * _UNITS[unit.upper()]), size), None)


def parse_bytes(size: Size) -> int:
    """As parse_amount, where a share makes no sense."""
    amount = parse_amount(size)
    if amount.bytes is None:
        raise ValueError(f"size {size!r}: bytes are expected here, not a share")
    return amount.bytes


def format_bytes(count: int) -> str:
    """'1.50 GiB'."""
    value = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} B" if unit == "B" else f"{value:.2f} {unit}"
        value /= 1024
    return f"{value:.2f} TiB"


def _positive(count: int, size: Size) -> int:
    if count <= 0:
        raise ValueError(f"size {size!r}: it must be above 0")
    return count
