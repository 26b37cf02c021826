"""Memory that is reached without PyTorch's dispatcher, which is where Ebb listens.

Every way that leads to a tensor's bytes past it is replaced while Ebb is on: it brings the memory back and keeps it
there as long as the pointer can live, or it is refused with a sentence. Three lifetimes:

    during the call     tolist, apply_, storage methods, deepcopy, the records of torch.save
    while a view lives  numpy
    while the storage   data_ptr, __cuda_array_interface__, DLPack: the pointer is a number that anybody may keep
"""

from __future__ import annotations

import weakref
from typing import Any, Callable

import torch
import torch.serialization
import torch.utils.dlpack

from ebb.extension import native
from ebb.holding import Scope, tensor_over, thread_state
from ebb.patching import Patches

# The last three make a storage object, which some versions refuse to do over memory that is away.
_TENSOR_CALLS = ("tolist", "apply_", "map_", "map2_", "_storage", "untyped_storage", "_typed_storage")
_STORAGE_CALLS = (
    "__getitem__",
    "__setitem__",
    "_byteswap",
    "_set_from_file",
    "_share_fd_cpu_",
    "_share_filename_cpu_",
    "_write_file",
    "byteswap",
    "copy_",
    "fill_",
    "resize_",
)
_WORTH_MOVING = 65_536  # bytes; what is smaller may as well stay, and a generator's state is read without an op
# Made of several ops, between which they keep the address of a tensor of lengths.
_LENGTH_READERS = ("lstm", "gru", "rnn_tanh", "rnn_relu", "ctc_loss")


def install(patches: Patches) -> None:
    tensor, storage = torch.Tensor, torch.UntypedStorage
    for name in _TENSOR_CALLS:
        patches.replace(tensor, name, _held_during)
    for name in _STORAGE_CALLS:
        patches.replace(storage, name, _held_during)
    patches.replace(tensor, "__deepcopy__", _passing)
    patches.replace(tensor, "__reduce_ex__", _passing)
    patches.replace(tensor, "numpy", _held_while_array_lives)
    patches.replace(tensor, "data_ptr", _held_for_life)
    patches.replace(storage, "data_ptr", _storage_held_for_life)
    for owner in (torch._C, torch, torch.utils.dlpack):
        for name in ("_to_dlpack", "_to_dlpack_versioned", "to_dlpack"):
            patches.replace(owner, name, _held_for_life)
    for owner in (torch, torch._VF):
        for name in _LENGTH_READERS:
            patches.replace(owner, name, _integers_held_during)
    for owner in (torch, torch.random):
        patches.replace(owner, "set_rng_state", _integers_held_during)
    patches.replace(torch.serialization, "_open_zipfile_writer", _opening_records)
    patches.replace(torch.serialization, "_legacy_save", _saving)
    patches.replace(torch._utils, "_rebuild_tensor", _meeting)
    patches.replace(storage, "_share_cuda_", _refusing_shared_cuda)
    patches.replace(torch.cuda.CUDAGraph, "capture_begin", _refusing_capture)
    patches.replace(torch, "compile", _refusing_compile)


def _held_during(original: Callable[..., Any]) -> Callable[..., Any]:
    def reach(self: Any, *args: Any, **kwargs: Any) -> Any:
        with Scope() as scope:
            scope.hold((self, args))
            return original(self, *args, **kwargs)

    return reach


def _integers_held_during(original: Callable[..., Any]) -> Callable[..., Any]:
    def reach(*args: Any, **kwargs: Any) -> Any:
        with Scope() as scope:
            scope.hold(a for a in args if isinstance(a, torch.Tensor) and not a.is_floating_point())
            return original(*args, **kwargs)

    return reach


def _passing(original: Callable[..., Any]) -> Callable[..., Any]:
    """For calls of PyTorch that look at data_ptr to compare it: that pins for the time of the call only."""

    def reach(self: Any, *args: Any, **kwargs: Any) -> Any:
        thread_state.passing += 1
        try:
            return original(self, *args, **kwargs)
        finally:
            thread_state.passing -= 1

    return reach


def _held_while_array_lives(original: Callable[..., Any]) -> Callable[..., Any]:
    def numpy(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if not native.managed(self):
            return original(self, *args, **kwargs)
        pin = native.pin(self)
        try:
            array = original(self, *args, **kwargs)
        except BaseException:
            pin.release()
            raise
        # Views of the array keep it alive, so its end is the end of every pointer into it.
        weakref.finalize(array, pin.release).atexit = False
        return array

    return numpy


def _held_for_life(original: Callable[..., Any]) -> Callable[..., Any]:
    def reach(self: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        if not native.managed(self):
            return original(self, *args, **kwargs)
        if thread_state.passing:
            with Scope() as scope:
                scope.hold([self])
                return original(self, *args, **kwargs)
        native.pin_for_life(self)
        return original(self, *args, **kwargs)

    return reach


def _storage_held_for_life(original: Callable[..., Any]) -> Callable[..., Any]:
    def data_ptr(self: Any) -> int:
        whole = tensor_over(self)
        if not native.managed(whole):
            return original(self)
        if thread_state.saved is not None:
            # torch.save compares these numbers, then hands them to the writer below: any that is its own will do.
            thread_state.saved[self._cdata] = self
            return self._cdata
        if thread_state.passing:
            with Scope() as scope:
                scope.hold([whole])
                return original(self)
        native.pin_for_life(whole)
        return original(self)

    return data_ptr


class _RecordWriter:
    """Writes records of torch.save with one storage at a time in device memory."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer

    def write_record(self, name: str, data: Any, size: int) -> None:
        storage = data
        if isinstance(data, int) and thread_state.saved is not None:
            storage = thread_state.saved.get(data, data)
        with Scope() as scope:
            scope.hold([storage])
            if storage is not data:
                with _outside_saving():
                    thread_state.passing += 1
                    try:
                        data = storage.data_ptr()
                    finally:
                        thread_state.passing -= 1
            self._writer.write_record(name, data, size)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._writer, name)


class _Saving:
    """Inside torch.save."""

    def __enter__(self) -> None:
        self._outer, thread_state.saved = thread_state.saved, {}

    def __exit__(self, *details: object) -> None:
        thread_state.saved = self._outer


class _outside_saving:
    def __enter__(self) -> None:
        self._inner, thread_state.saved = thread_state.saved, None

    def __exit__(self, *details: object) -> None:
        thread_state.saved = self._inner


class _Records:
    """The context manager that torch.save opens, with our writer in it."""

    def __init__(self, opener: Any) -> None:
        self._opener = opener
        self._saving = _Saving()

    def __enter__(self) -> _RecordWriter:
        self._saving.__enter__()
        try:
            return _RecordWriter(self._opener.__enter__())
        except BaseException:
            self._saving.__exit__()
            raise

    def __exit__(self, *details: object) -> Any:
        self._saving.__exit__()
        return self._opener.__exit__(*details)


def _opening_records(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *args, **kwargs: _Records(original(*args, **kwargs))


def _saving(original: Callable[..., Any]) -> Callable[..., Any]:
    def legacy_save(*args: Any, **kwargs: Any) -> Any:
        with _Saving():
            return original(*args, **kwargs)

    return legacy_save


def _meeting(original: Callable[..., Any]) -> Callable[..., Any]:
    """torch.load fills storages without an op, and until Ebb has met them in one they stay where they are."""

    def rebuild(*args: Any, **kwargs: Any) -> Any:
        tensor = original(*args, **kwargs)
        if native.managed(tensor) and tensor.numel() * tensor.element_size() >= _WORTH_MOVING:
            tensor.detach().as_strided((0,), (1,)).clone()
        return tensor

    return rebuild


def _refusing(sentence: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(sentence)

    return refuse


def _refusing_capture(original: Any) -> Callable[..., Any]:
    return _refusing("Ebb is on: a CUDA graph would keep addresses of memory that moves; call ebb.off() before capturing")


def _refusing_compile(original: Any) -> Callable[..., Any]:
    return _refusing("Ebb is on: code made by torch.compile reaches memory without the dispatcher; call ebb.off() first")


def _refusing_shared_cuda(original: Any) -> Callable[..., Any]:
    def share(self: Any, *args: Any, **kwargs: Any) -> Any:
        if native.managed(tensor_over(self)):
            raise RuntimeError("Ebb is on: memory that it manages cannot be shared with another process; clone it to the CPU")
        return original(self, *args, **kwargs)

    return share
