"""Pins for the time of a call, and the scopes that calls inside it can see."""

from __future__ import annotations

import threading
from typing import Any, Iterable

import torch

from ebb.extension import native


class Scope:
    """Pins that end together. REQUIRES: used by one thread."""

    def __init__(self) -> None:
        self._pins: list[Any] = []

    def hold(self, values: Iterable[Any]) -> None:
        """Pins the tensors and storages among the values, and in lists, tuples and dictionaries of them."""
        for value in values:
            if isinstance(value, torch.Tensor):
                if native.managed(value):
                    self._pins.append(native.pin(value))
            elif isinstance(value, (list, tuple)):
                self.hold(value)
            elif isinstance(value, dict):
                self.hold(value.values())
            elif is_storage(value):
                self.hold([tensor_over(value)])

    def __enter__(self) -> "Scope":
        return self

    def __exit__(self, *details: object) -> None:
        while self._pins:
            self._pins.pop().release()


class _ThreadState(threading.local):
    def __init__(self) -> None:
        self.functions: list[Scope | None] = []  # autograd functions that are running, innermost last
        self.saved: dict[int, Any] | None = None  # inside torch.save: storages by what data_ptr said
        self.passing = 0  # inside calls whose pointers do not outlive them


thread_state = _ThreadState()


def is_storage(value: Any) -> bool:
    return isinstance(value, (torch.UntypedStorage, torch.storage.TypedStorage))


def untyped(storage: Any) -> Any:
    return storage._storage if isinstance(storage, torch.storage.TypedStorage) else storage


def tensor_over(storage: Any) -> torch.Tensor:
    """The storage's bytes as a tensor; nothing is read, nothing is brought back."""
    storage = untyped(storage)
    listening = native.listening()
    native.leave_thread()
    try:
        with torch.no_grad():
            return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)
    finally:
        if listening:
            native.enter_thread()
