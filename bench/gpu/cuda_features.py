#!/usr/bin/env python3
"""What training scripts do, on a CUDA device within a limit: the features of tests/torch, and what only CUDA has.

Each feature of `tests/torch/features.py` runs plain, in stress mode and at 60 % of its peak, to the same bits, its tensors on
the device. Then statistics, streams, pinned loaders, a limit set late, float16 with a scaler, fused optimizers, kernels of
Triton's, pointers, graphs and errors. Each run is a forked child with a time-out; --at-once of them share the device.
With --device cpu the features show that the script works.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import unittest
from typing import Any, Callable

# Libraries keep little, so that these small networks are most of what there is; deterministic all the same.
os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":16:8"
os.environ["CUBLASLT_WORKSPACE_SIZE"] = "128"

from models import deterministic  # finds tests/torch, too

import torch
import torch.nn.functional as F
from features import FEATURES, batch, fit, network, told
from torch import nn

import ebb
from harness import ChildFailed, digests, in_child
from journal import Journal, at_once

MIB = 2**20
ROOMY = 2048 * MIB  # nothing leaves; a device that several share has it
CHECKS: dict[str, Callable[[], Any]] = {}  # raise if something is wrong
TRAININGS: dict[str, Callable[[], Any]] = {}  # to the same bits


def check(function: Callable[[], Any]) -> Callable[[], Any]:
    CHECKS[function.__name__] = function
    return function


def training(function: Callable[[], Any]) -> Callable[[], Any]:
    TRAININGS[function.__name__] = function
    return function


def require(condition: bool, what: str) -> None:
    if not condition:
        raise AssertionError(what)


def prepare(device: str) -> None:
    if device == "cuda":
        deterministic(strict=False)
        torch.set_default_device("cuda")
    else:
        torch.use_deterministic_algorithms(True, warn_only=True)


def on_host(value: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return value.detach().cpu()
    if isinstance(value, dict):
        return {key: on_host(inner) for key, inner in value.items()}
    return [on_host(inner) for inner in value] if isinstance(value, (list, tuple)) else value


def run(name: str, device: str, limit: int = 0, stress: bool = False) -> dict[str, Any]:
    prepare(device)
    if limit:
        ebb.limit(limit, planner="none", stress=stress, device=device)
    torch.manual_seed(3)
    bits = digests(on_host({**FEATURES, **TRAININGS}[name]()))
    return {"bits": bits, "status": ebb.status()}


def measure(name: str, device: str) -> dict[str, int]:
    prepare(device)
    with ebb.limit(ROOMY, planner="none", device=device):
        torch.manual_seed(3)
        {**FEATURES, **TRAININGS}[name]()
        return {"peak": ebb.status()["peak"], "smallest": ebb.smallest_limit()}


def same_bits(name: str, device: str, seconds: float) -> str:
    """In words. Throws if they are not, and SkipTest where it does not work without Ebb."""
    try:
        plain = in_child(run, name, device, seconds=seconds)
    except ChildFailed as error:
        raise unittest.SkipTest("without Ebb: " + str(error).strip().splitlines()[-1][:200]) from error
    size = in_child(measure, name, device, seconds=seconds)
    evictions = []
    for limit, stress in ((2 * size["peak"], True), (max(size["smallest"] * 11 // 10, size["peak"] * 6 // 10), False)):
        limited = in_child(run, name, device, limit, stress, seconds=seconds)
        different = [key for key in plain["bits"] if plain["bits"][key] != limited["bits"].get(key)]
        require(not different and len(plain["bits"]) == len(limited["bits"]), f"{len(different)} of {len(plain['bits'])} differ: {different[:3]}")
        require(limited["status"]["arena_high_water"] <= limit, f"{limited['status']['arena_high_water']} bytes of {limit}")
        evictions.append(limited["status"]["evictions"])
    return f"same bits, {evictions[0]} and {evictions[1]} evictions, peak {size['peak'] / MIB:.1f} MiB, within {limit / MIB:.1f}"


def fit_on_device(make: Callable[..., torch.optim.Optimizer], **options: Any) -> Any:
    model = network()
    optimizer = make(model.parameters(), **options)
    return told(model, optimizer, fit(model, optimizer, [batch() for _ in range(4)]))


@training
def fused_sgd() -> Any:
    return fit_on_device(torch.optim.SGD, lr=0.1, momentum=0.9, fused=True)


@training
def fused_adamw() -> Any:
    return fit_on_device(torch.optim.AdamW, lr=1e-3, fused=True)


@training
def float16_with_a_scaler() -> Any:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler = torch.amp.GradScaler("cuda", init_scale=2.0**24)  # so large that a step is skipped
    losses = []
    for _ in range(5):
        optimizer.zero_grad()
        x, y = batch()
        with torch.autocast("cuda", dtype=torch.float16):
            loss = F.cross_entropy(model(x), y)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item().hex())
    return told(model, optimizer, losses, scaler.get_scale())


@training
def a_pinned_loader_with_workers() -> Any:
    host = torch.Generator("cpu").manual_seed(5)
    data = torch.utils.data.TensorDataset(torch.randn(48, 3, 32, 32, generator=host, device="cpu"), torch.randint(10, (48,), generator=host, device="cpu"))
    loader = torch.utils.data.DataLoader(data, batch_size=8, num_workers=2, pin_memory=True)
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    on_device = ([part.to("cuda", non_blocking=True) for part in item] for item in loader)
    return told(model, optimizer, fit(model, optimizer, on_device))


@training
def work_on_another_stream() -> Any:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        losses = fit(model, optimizer, [batch() for _ in range(3)])
    torch.cuda.current_stream().wait_stream(side)
    losses += fit(model, optimizer, [batch() for _ in range(2)])
    return told(model, optimizer, losses)


@training
def a_kernel_of_tritons() -> Any:
    from triton_kernels import double

    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return double(x)

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> torch.Tensor:
            return double(gradient.contiguous())

    first, last = nn.Linear(256, 256), nn.Linear(256, 256)
    optimizer = torch.optim.SGD([*first.parameters(), *last.parameters()], lr=0.05)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = last(Double.apply(first(torch.randn(256, 256)))).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item().hex())
    return [first.state_dict(), last.state_dict(), losses]


@check
def statistics() -> None:
    ebb.limit(1024 * MIB, planner="none", device="cuda")
    before = torch.cuda.memory_allocated()
    x = torch.ones(16 * MIB)
    require(64 * MIB <= torch.cuda.memory_allocated() - before < 66 * MIB, f"{torch.cuda.memory_allocated() - before} bytes more for 64 MiB")
    del x
    require(torch.cuda.memory_allocated() == before, "memory that was freed is still counted")
    require(torch.cuda.max_memory_allocated() >= before + 64 * MIB, "the peak is too small")
    torch.cuda.reset_peak_memory_stats()
    require(torch.cuda.max_memory_allocated() < before + MIB, "the peak was not reset")
    require(torch.cuda.memory_reserved() >= 1024 * MIB, "the arena is not in what is reserved")
    torch.cuda.empty_cache()
    torch.cuda.memory_stats()
    torch.cuda.memory_summary()
    torch.cuda.memory_snapshot()


@check
def benchmark_mode() -> None:
    torch.backends.cudnn.deterministic = False
    torch.backends.cudnn.benchmark = True
    ebb.limit(256 * MIB, planner="none", device="cuda")
    model = network()
    losses = fit(model, torch.optim.SGD(model.parameters(), lr=0.01), [batch() for _ in range(3)])
    require(all(float.fromhex(loss) < 100 for loss in losses), f"losses {losses}")


@check
def a_recorded_stream() -> None:
    ebb.limit(320 * MIB, planner="none", device="cuda")
    side = torch.cuda.Stream()
    x = torch.full((16 * MIB,), 3.0)
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        torch.cuda._sleep(400_000_000)
        total = x.sum()
    x.record_stream(side)
    del x
    later = []
    for _ in range(8):
        later = later[-2:] + [torch.zeros(16 * MIB).add_(1)]
    torch.cuda.current_stream().wait_stream(side)
    require(total.item() == 48.0 * MIB, f"{total.item()} instead of {48 * MIB}: the memory was used again too early")


@check
def a_limit_that_is_set_late() -> None:
    limit = 448 * MIB

    def train(begin: Callable[[], Any]) -> dict[str, Any]:
        torch.manual_seed(3)
        model = network()
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
        data = [batch(512) for _ in range(6)]
        losses = fit(model, optimizer, data[:2])
        begin()
        losses += fit(model, optimizer, data[2:])
        return digests(on_host(told(model, optimizer, losses)))

    plain = train(lambda: None)
    late = train(lambda: ebb.limit(limit, planner="none", device="cuda"))
    status = ebb.status()
    require([key for key in plain if plain[key] != late.get(key)] == [], "other bits")
    require(status["evictions"] > 0, "nothing left: the limit was too large to show anything")
    require(status["arena_high_water"] <= limit, f"{status['arena_high_water']} bytes")


@check
def a_graph_is_refused() -> None:
    ebb.limit(256 * MIB, planner="none", device="cuda")
    x = torch.ones(1024)
    graph = torch.cuda.CUDAGraph()
    try:
        with torch.cuda.graph(graph):
            x.add_(1)
    except RuntimeError as error:
        require("Ebb" in str(error), f"it is refused, but not by Ebb: {error}")
        return
    raise AssertionError("a graph was captured")


@check
def out_of_memory() -> None:
    ebb.limit(256 * MIB, planner="none", device="cuda")
    try:
        torch.zeros(128 * MIB)
    except ebb.OutOfMemory as error:
        require(not isinstance(error, torch.cuda.OutOfMemoryError), "it is torch's error, which libraries catch")
        require("limit" in str(error) and "smallest" in str(error), str(error))
        return
    raise AssertionError("512 MiB were found in 256")


@check
def a_share_of_the_device() -> None:
    ebb.limit("50%", planner="none", device="cuda")
    total = torch.cuda.get_device_properties(0).total_memory
    require(0.4 * total < ebb.status()["limit"] <= 0.5 * total, f"{ebb.status()['limit']} of {total}")


@check
def pointers() -> None:
    ebb.limit(256 * MIB, planner="none", stress=True, device="cuda")
    x = torch.arange(MIB, dtype=torch.float32)
    torch.zeros(MIB).add_(1)
    require(x.data_ptr() != 0, "data_ptr is 0")
    shown = torch.as_tensor(_Shown(x), device="cuda")
    require(torch.equal(shown, x), "__cuda_array_interface__ shows other bytes")
    y = torch.arange(MIB, dtype=torch.float32)
    torch.zeros(MIB).add_(1)
    require(torch.equal(torch.from_dlpack(y), x), "DLPack hands over other bytes")
    z = torch.arange(MIB, dtype=torch.float32)
    torch.zeros(MIB).add_(1)
    require(z.tolist()[MIB - 1] == MIB - 1 and "..." in repr(z), "tolist or repr")
    with tempfile.TemporaryFile() as file:
        torch.save(z, file)
        file.seek(0)
        require(torch.equal(torch.load(file), z), "torch.save")


class _Shown:
    """Something else that shows the same memory."""

    def __init__(self, tensor: torch.Tensor) -> None:
        self.__cuda_array_interface__ = tensor.__cuda_array_interface__


@check
def a_second_thread() -> None:
    ebb.limit(256 * MIB, planner="none", stress=True, device="cuda")
    x = torch.arange(MIB, dtype=torch.float64)
    answers = []

    def work() -> None:
        for k in range(5):
            answers.append((x * (k + 1)).sum().item())

    thread = threading.Thread(target=work)
    thread.start()
    for _ in range(20):
        torch.zeros(MIB).add_(1)
    thread.join()
    whole = MIB * (MIB - 1) / 2
    require(answers == [whole * (k + 1) for k in range(5)], f"{answers}")


@check
def turned_off() -> None:
    with ebb.limit(256 * MIB, planner="none", stress=True, device="cuda"):
        kept = [torch.full((MIB,), float(k)) for k in range(8)]
        torch.zeros(MIB).add_(1)
    require(not ebb.status()["active"], "it is still on")
    require(all(bool((tensor == k).all()) for k, tensor in enumerate(kept)), "tensors changed")
    torch.zeros(128 * MIB).add_(1)  # 512 MiB, beyond the limit that was


def run_check(name: str) -> None:
    prepare("cuda")
    CHECKS[name]()


def one(name: str, options: argparse.Namespace) -> tuple[str, str]:
    try:
        if name in CHECKS:
            in_child(run_check, name, seconds=options.timeout)
            return "ok", ""
        return "ok", same_bits(name, options.device, options.timeout)
    except unittest.SkipTest as reason:
        return "left", str(reason)
    except (ChildFailed, AssertionError) as error:
        said = [line for line in str(error).strip().splitlines() if "rror" in line] or [repr(error)]
        return "BAD", said[-1][:400]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--only", nargs="+", help="these of them")
    parser.add_argument("--at-once", type=int, default=1, help="processes that share the device")
    parser.add_argument("--timeout", type=float, default=90, help="seconds for one run")
    options = parser.parse_args()
    known = list(FEATURES) + (list(TRAININGS) + list(CHECKS) if options.device == "cuda" else [])
    if unknown := set(options.only or []) - set(known):
        parser.error(f"there is no {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    names = [name for name in known if not options.only or name in options.only]

    def walk(k: int, journal: Journal) -> int:
        bad = 0
        for name in names[k :: options.at_once]:
            verdict, words = one(name, options)
            print(f"{verdict:4} {name:45} {words}", flush=True)
            journal.add({"name": name, "verdict": verdict, "words": words})
            bad += verdict == "BAD"
        return bad

    journal = Journal(None)
    bad = at_once(options.at_once, walk, journal)
    counts = {verdict: sum(row["verdict"] == verdict for row in journal.rows) for verdict in ("ok", "BAD", "left")}
    print(json.dumps({"torch": torch.__version__, "device": options.device, **counts}))
    return 1 if bad or len(journal.rows) < len(names) else 0


if __name__ == "__main__":
    sys.exit(main())
