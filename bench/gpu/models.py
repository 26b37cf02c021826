"""The models of the measurements on a GPU, with random weights: nothing is downloaded."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
from dataclasses import dataclass
from typing import Callable, Iterable

# Deterministic matrix products need this before CUDA starts.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
_QUEUES = "CUDA_SCALE_LAUNCH_QUEUES"
_QUEUES_BEFORE = os.environ.get(_QUEUES)  # before `import ebb`
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests", "torch"))

import torch
import torch.nn.functional as F
from torch import nn


@dataclass
class Model:
    """REQUIRES: CUDA may be used. `loss()` runs forward on a batch."""

    module: nn.Module
    loss: Callable[[], torch.Tensor]


def _images(module: nn.Module, batch: int, classes: int = 1000) -> Model:
    module = module.cuda()
    x = torch.randn(batch, 3, 224, 224, device="cuda")
    y = torch.randint(classes, (batch,), device="cuda")
    return Model(module, lambda: F.cross_entropy(module(x), y))


def resnet50(batch: int) -> Model:
    import torchvision

    return _images(torchvision.models.resnet50(), batch)


def vgg16(batch: int) -> Model:
    import torchvision

    return _images(torchvision.models.vgg16(), batch)


def densenet121(batch: int) -> Model:
    import torchvision

    return _images(torchvision.models.densenet121(), batch)


def vit_base(batch: int) -> Model:
    import timm

    return _images(timm.create_model("vit_base_patch16_224", pretrained=False, drop_rate=0.1), batch)


def gpt2(batch: int, length: int = 512) -> Model:
    import transformers

    module = transformers.GPT2LMHeadModel(transformers.GPT2Config()).cuda().train()
    text = torch.randint(50257, (batch, length), device="cuda")
    return Model(module, lambda: module(text, labels=text, use_cache=False).loss)


# Attention is deterministic only where a warning is an error; vgg16's pooling is an error then.
STRICT = ("gpt2", "vit_base")
MODELS = {make.__name__: make for make in (resnet50, vgg16, densenet121, vit_base, gpt2)}


def as_without_ebb() -> None:
    """Plain runs are timed with the launch queues that PyTorch has by itself. REQUIRES: CUDA has not started."""
    if _QUEUES_BEFORE is None:
        os.environ.pop(_QUEUES, None)


def deterministic(strict: bool) -> None:
    """Makes the device compute the same bits every time."""
    torch.use_deterministic_algorithms(True, warn_only=not strict)
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    torch.cuda.init()


def _checkpoint_each(modules: Iterable[nn.Module]) -> None:
    from torch.utils.checkpoint import checkpoint

    for module in modules:
        forward = module.forward
        module.forward = lambda *args, forward=forward: checkpoint(forward, *args, use_reentrant=False)


def checkpoint_by_hand(name: str, model: Model) -> None:
    """What its library or its users do: every residual block, every stage of vgg16, dense layers, transformer blocks."""
    module = model.module
    if name == "resnet50":
        _checkpoint_each(block for i in range(1, 5) for block in getattr(module, f"layer{i}"))
    elif name == "vgg16":
        stages: list[list[nn.Module]] = [[]]
        for layer in module.features:
            stages[-1].append(layer)
            if isinstance(layer, nn.MaxPool2d):
                stages.append([])
        module.features = nn.Sequential(*[nn.Sequential(*stage) for stage in stages if stage])
        _checkpoint_each(module.features)
    elif name == "densenet121":
        for layer in module.modules():
            if hasattr(layer, "memory_efficient"):
                layer.memory_efficient = True
    elif name == "vit_base":
        module.set_grad_checkpointing()
    else:
        module.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})


def import_all(names: list[str]) -> None:
    """In the parent, so that forked children need not: libraries only, CUDA stays asleep."""
    if {"resnet50", "vgg16", "densenet121"} & set(names):
        import torchvision  # noqa: F401
    if "vit_base" in names:
        import timm  # noqa: F401
    if "gpt2" in names:
        from transformers import GPT2Config, GPT2LMHeadModel  # noqa: F401


def make_optimizer(kind: str, module: nn.Module) -> torch.optim.Optimizer:
    if kind == "sgd":
        return torch.optim.SGD(module.parameters(), lr=0.01, momentum=0.9, foreach=True)
    return torch.optim.AdamW(module.parameters(), lr=1e-4, foreach=True)


def device_memory_in_use() -> int:
    """Of this process where the driver tells; else of the whole device, on which nothing else may run then."""
    own = _own_device_memory()
    if own is not None:
        return own
    free, total = torch.cuda.mem_get_info()
    return total - free


class _ProcessMemory(ctypes.Structure):
    """nvmlProcessInfo_t"""

    _fields_ = [("pid", ctypes.c_uint), ("bytes", ctypes.c_ulonglong), ("instance", ctypes.c_uint), ("compute_instance", ctypes.c_uint)]


@functools.cache
def _driver_library(process: int) -> tuple[ctypes.CDLL, ctypes.c_void_p] | None:
    """Of a process, since it does not survive a fork."""
    try:
        library = ctypes.CDLL("libnvidia-ml.so.1")
        device = ctypes.c_void_p()
        if library.nvmlInit_v2() or library.nvmlDeviceGetHandleByIndex_v2(torch.cuda.current_device(), ctypes.byref(device)):
            return None
        return library, device
    except (OSError, AttributeError):
        return None


def _own_device_memory() -> int | None:
    found = _driver_library(os.getpid())
    if found is None:
        return None
    library, device = found
    count = ctypes.c_uint(64)
    processes = (_ProcessMemory * count.value)()
    if library.nvmlDeviceGetComputeRunningProcesses_v3(device, ctypes.byref(count), processes):
        return None
    for process in processes[: count.value]:
        if process.pid == os.getpid() and process.bytes != 2**64 - 1:
            return int(process.bytes)
    return None
