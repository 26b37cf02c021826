"""autograd.Function: code of the user's, extensions and Triton kernels behind it, that works on raw memory.

What goes into forward and backward, and what backward takes from ctx.saved_tensors, is pinned until they return.
PyTorch's own functions (torch.utils.checkpoint is one) only call ops and need no pins.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.autograd.function import BackwardCFunction, Function

from ebb.holding import Scope, thread_state
from ebb.patching import Patches

_saved_tensors = torch._C._FunctionBase.saved_tensors  # type: ignore[attr-defined]


def install(patches: Patches) -> None:
    patches.put(Function, "apply", classmethod(_apply_with(vars(Function).get("apply"))))
    patches.replace(BackwardCFunction, "apply", _holding_gradients)
    patches.put(BackwardCFunction, "saved_tensors", property(_held_saved_tensors))


def _is_of_torch(function: type) -> bool:
    return function.__module__.split(".")[0] == "torch"


class _Running:
    """The innermost function of this thread; None stands for one that needs no pins."""

    def __init__(self, scope: Scope | None) -> None:
        self._scope = scope

    def __enter__(self) -> None:
        thread_state.functions.append(self._scope)

    def __exit__(self, *details: object) -> None:
        scope = thread_state.functions.pop()
        if scope is not None:
            scope.__exit__()


def _apply_with(original: Any) -> Any:
    def apply(cls: type, *args: Any, **kwargs: Any) -> Any:
        bound = original.__get__(None, cls) if original is not None else super(Function, cls).apply
        if _is_of_torch(cls):
            return bound(*args, **kwargs)
        scope = Scope()
        with _Running(scope):
            scope.hold((args, kwargs))
            return bound(*args, **kwargs)

    return apply


def _holding_gradients(original: Any) -> Any:
    def apply(self: Any, *gradients: Any) -> Any:
        if _is_of_torch(self._forward_cls):
            with _Running(None):
                return original(self, *gradients)
        scope = Scope()
        with _Running(scope):
            scope.hold(gradients)
            return original(self, *gradients)

    return apply


def _held_saved_tensors(self: Any) -> Any:
    saved = _saved_tensors.__get__(self)
    if thread_state.functions and thread_state.functions[-1] is not None:
        thread_state.functions[-1].hold(saved)
    return saved
