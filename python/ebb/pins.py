"""Keeping a tensor's memory where it is."""

from __future__ import annotations

from types import TracebackType
from typing import Any

import torch

from ebb.extension import native


class Pin:
    """Keeps a tensor in device memory, at one address, until it is released or deleted.

    Pinned memory counts against the limit, and an op that does not fit beside it raises OutOfMemory.
    """

    def __init__(self, held: Any = None) -> None:
        self._held = held

    def release(self) -> None:
        """Lets the tensor move again. Doing it twice is fine."""
        held, self._held = self._held, None
        if held is not None:
            held.release()

    def __enter__(self) -> "Pin":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()


def pin(tensor: torch.Tensor) -> Pin:
    """Pins a tensor for code that PyTorch's dispatcher does not see: a CUDA extension, a Triton kernel, ctypes.

        with ebb.pin(x):
            my_extension.run(x)

    If Ebb is off, or does not manage the tensor's memory, there is nothing to keep and the pin does nothing.
    """
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"ebb.pin takes a tensor, not {type(tensor).__name__}")
    return Pin(native.pin(tensor) if native.active() and native.managed(tensor) else None)
