"""Attributes of other modules that are replaced while Ebb is on."""

from __future__ import annotations

import functools
from typing import Any, Callable

_ABSENT = object()


class Patches:
    """Remembers what stood there, so that `undo` leaves no trace."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any]] = []

    def replace(self, owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        """Puts make(present value) in place of owner.name; does nothing where there is no such attribute."""
        present = getattr(owner, name, _ABSENT)
        if present is _ABSENT:
            return
        replacement = make(present)
        if callable(replacement) and callable(present):
            functools.update_wrapper(replacement, present)
        self._put(owner, name, replacement)

    def put(self, owner: Any, name: str, value: Any) -> None:
        """As replace, for descriptors, whose present value only the caller can find."""
        self._put(owner, name, value)

    def undo(self) -> None:
        while self._replaced:
            owner, name, before = self._replaced.pop()
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

    def _put(self, owner: Any, name: str, value: Any) -> None:
        self._replaced.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)
