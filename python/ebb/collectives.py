"""torch.distributed, as far as the dispatcher does not show it.

Collectives are ops, and Ebb keeps their tensors in place until the Work that they return is over. What is left for Python:

    groups of collectives       one Work for all of them, which the group's end returns
    collectives without an op   a few of PyTorch 1.13
    callbacks of futures        run in a thread of the backend, and compute (hooks that compress gradients do)
    the reducer's bookkeeping   keeps addresses into integers on the CPU across ops
    FSDP                        refused: it gives its parameters' memory back by itself
"""

from __future__ import annotations

from typing import Any, Callable, Iterator

import torch

from ebb.extension import native, torch_release
from ebb.patching import Patches

# Of PyTorch before 2.0; these call the backend at once.
_WITHOUT_OP = (
    "allreduce_coalesced",
    "allgather_coalesced",
    "_allgather_base",
    "_reduce_scatter_base",
    "alltoall_base",
    "recv_anysource",
)


def install(patches: Patches) -> None:
    if not torch.distributed.is_available():
        return
    group = torch.distributed.ProcessGroup
    if torch_release(torch.__version__) < (2, 0):
        for name in _WITHOUT_OP:
            patches.replace(group, name, _held_until_over)
    patches.replace(group, "_start_coalescing", _opening_group)
    patches.replace(group, "_end_coalescing", _closing_group)
    for name in ("then", "add_done_callback"):
        patches.replace(torch._C.Future, name, _calling_back_with_key)
    patches.replace(torch.distributed.Reducer, "_rebuild_buckets", _integers_staying)
    patches.replace(torch.distributed, "_verify_params_across_processes", _integers_staying)
    patches.when_imported("torch.distributed.fsdp", _refuse_fsdp)
    # What fully_shard makes, wherever that was imported from.
    for package in ("fsdp._fully_shard", "_composable.fsdp"):
        patches.when_imported(f"torch.distributed.{package}._fsdp_param_group", _refuse_sharded_groups)


def _tensors_in(value: Any) -> Iterator[torch.Tensor]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from _tensors_in(element)


def _held_until_over(original: Callable[..., Any]) -> Callable[..., Any]:
    def collective(self: Any, *args: Any, **kwargs: Any) -> Any:
        group = native.CollectiveGroup()
        work = None
        try:
            for tensor in _tensors_in([*args, *kwargs.values()]):
                group.add(tensor)
            work = original(self, *args, **kwargs)
            return work
        finally:
            group.end(work)

    return collective


_groups: list[Any] = []


def _opening_group(original: Callable[..., Any]) -> Callable[..., Any]:
    def start(self: Any, *args: Any, **kwargs: Any) -> Any:
        _groups.append(native.CollectiveGroup())
        return original(self, *args, **kwargs)

    return start


def _closing_group(original: Callable[..., Any]) -> Callable[..., Any]:
    def end(self: Any, *args: Any, **kwargs: Any) -> Any:
        work = None
        try:
            work = original(self, *args, **kwargs)
            return work
        finally:
            if _groups:
                _groups.pop().end(work)

    return end


def _calling_back_with_key(original: Callable[..., Any]) -> Callable[..., Any]:
    def subscribe(self: Any, callback: Callable[..., Any]) -> Any:
        def call(*args: Any) -> Any:
            listening = native.listening()
            native.enter_thread()
            try:
                return callback(*args)
            finally:
                if not listening:
                    native.leave_thread()

        return original(self, call)

    return subscribe


def _integers_staying(original: Callable[..., Any]) -> Callable[..., Any]:

    def call(*args: Any, **kwargs: Any) -> Any:
        with native.IntegersStay():
            return original(*args, **kwargs)

    return call


_NO_FSDP = (
    "Ebb is on: FSDP resizes the storages of its flat parameters by itself, and what Ebb has moved would be lost;"
    " use DistributedDataParallel with ZeroRedundancyOptimizer, or call ebb.off() before sharding"
)


def _refusing_fsdp(original: Any) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(_NO_FSDP)

    return refuse


def _refuse_fsdp(patches: Patches, fsdp: Any) -> None:
    """Also for models that were sharded before."""
    for name in ("__init__", "forward"):
        patches.replace(fsdp.FullyShardedDataParallel, name, _refusing_fsdp)
    patches.replace(fsdp, "fully_shard", _refusing_fsdp)


def _refuse_sharded_groups(patches: Patches, module: Any) -> None:
    for name in ("__init__", "unshard"):
        patches.replace(module.FSDPParamGroup, name, _refusing_fsdp)
