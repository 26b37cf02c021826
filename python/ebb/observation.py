"""Watches the first iterations where a limit is a share of a peak that nobody knows yet."""

from __future__ import annotations

from typing import Any, Callable

import torch

from ebb.patching import Patches

OBSERVED_BACKWARDS = 3


class Observation:
    """Calls `done` after the given number of backward passes, when activations are gone and little is alive."""

    def __init__(self, done: Callable[[], None], backwards: int = OBSERVED_BACKWARDS) -> None:
        self._done = done
        self._left = backwards
        self._patches = Patches()
        self._patches.replace(torch.autograd, "backward", self._counting)

    def cancel(self) -> None:
        self._patches.undo()

    def _counting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def backward(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            self._left -= 1
            if self._left == 0:
                self.cancel()
                self._done()
            return result

        return backward
