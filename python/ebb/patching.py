"""Attributes of other modules that are replaced while Ebb is on."""

from __future__ import annotations

import functools
import importlib.abc
import importlib.util
import sys
from typing import Any, Callable

_ABSENT = object()


class Patches:
    """Remembers what stood there, so that `undo` leaves no trace."""

    def __init__(self) -> None:
        self._replaced: list[tuple[Any, str, Any]] = []
        self._waiting: list[_AfterImport] = []

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

    def when_imported(self, module: str, patch: Callable[["Patches", Any], None]) -> None:
        """Calls patch(self, module) now, or right after somebody imports it."""
        if module in sys.modules:
            patch(self, sys.modules[module])
            return
        finder = _AfterImport(module, lambda loaded: patch(self, loaded))
        self._waiting.append(finder)
        sys.meta_path.insert(0, finder)

    def undo(self) -> None:
        while self._waiting:
            self._waiting.pop().cancel()
        while self._replaced:
            owner, name, before = self._replaced.pop()
            if before is _ABSENT:
                delattr(owner, name)
            else:
                setattr(owner, name, before)

    def _put(self, owner: Any, name: str, value: Any) -> None:
        self._replaced.append((owner, name, vars(owner).get(name, _ABSENT)))
        setattr(owner, name, value)


class _AfterImport(importlib.abc.MetaPathFinder):
    """Finds a module as everybody else would, and has a function called when it has run."""

    def __init__(self, module: str, then: Callable[[Any], None]) -> None:
        self._module = module
        self._then = then

    def cancel(self) -> None:
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        self._then = lambda loaded: None

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self._module:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            run = spec.loader.exec_module

            def run_then(module: Any) -> None:
                run(module)
                self._then(module)

            spec.loader.exec_module = run_then  # type: ignore[method-assign]
        return spec
