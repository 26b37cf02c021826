"""One training run each, for paper_tables.py: they are called in a child process and answer with numbers."""

from __future__ import annotations

import contextlib
import gc
import os
import statistics
import threading
import time
from dataclasses import dataclass
from typing import Any, Callable, Iterator

import planned as shares_of_peak
import torch
from models import as_without_ebb, deterministic, device_memory_in_use, make_optimizer
from paper_models import Network

import ebb

SEED = 20261115
COUNTED = ("bytes_out", "bytes_in", "replays", "captured_replays", "evictions", "planned_iterations", "left_out", "deviations")
KEPT = ("planner", "refusal", "arena_high_water", "captures", "moved_captures", "peak", "smallest_limit", "planning_seconds", "ops_per_iteration", "host_high_water")
CLOSE_ENOUGH = 1.02  # of a batch that does not fit to one that does


@dataclass(frozen=True)
class Case:
    network: Network
    batch: int
    device: str
    steps: int  # that are timed
    exact: bool = False  # deterministic kernels

    def prepare(self) -> None:
        if self.device == "cpu":
            torch.use_deterministic_algorithms(self.exact)
        elif self.exact:
            deterministic(strict=False)
        else:
            torch.cuda.init()


class Training(shares_of_peak.Training):
    """REQUIRES: the case is prepared."""

    def __init__(self, case: Case) -> None:
        torch.manual_seed(SEED)
        self.device = case.device
        self.model = case.network.make(case.batch, case.device)
        self.around = contextlib.nullcontext()
        self.optimizer = make_optimizer("sgd", self.model.module)
        self.losses = torch.zeros(shares_of_peak.MOST_STEPS + 200, device=case.device)
        self.steps = 0
        self.each = []

    def wait(self) -> None:
        if self.device == "cuda":
            super().wait()

    def timed(self, steps: int) -> float:
        if self.device == "cuda":
            return super().timed(steps)
        self.each = []
        for _ in range(steps):
            start = time.perf_counter()
            self.step()
            self.each.append(1e3 * (time.perf_counter() - start))
        return statistics.median(self.each)


@contextlib.contextmanager
def counted_memory(device: str) -> Iterator[Callable[[], tuple[int, int]]]:
    """Asked, it tells the most that was allocated and the most that was reserved since it was last asked; on the CPU, since it began."""
    if device == "cuda":

        def most() -> tuple[int, int]:
            answer = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
            torch.cuda.reset_peak_memory_stats()
            return answer

        torch.cuda.reset_peak_memory_stats()
        yield most
        return
    with ebb.observe(device=device):
        yield lambda: (ebb.status()["peak"],) * 2


def plain(case: Case, steps_for_bits: int = 0) -> dict[str, Any]:
    """With the caching allocator; bits after a number of steps if that is asked for."""
    as_without_ebb()
    case.prepare()
    with counted_memory(case.device) as most:
        training = Training(case)
        training.run(3)
        most()
        milliseconds = training.timed(case.steps)
        peak, reserved = most()
        answer: dict[str, Any] = {"ms": milliseconds, "peak": peak, "reserved": reserved}
        if steps_for_bits:
            training.run(steps_for_bits - training.steps)
            answer |= {"bits": training.bits(), "steps": training.steps}
        return answer


def uncached(case: Case) -> dict[str, Any]:
    """Every tensor by cudaMalloc and cudaFree. The memory is what was seen on the device by looking often: at least so much."""
    as_without_ebb()
    os.environ["PYTORCH_NO_CUDA_MEMORY_CACHING"] = "1"
    case.prepare()
    if case.device == "cpu":
        return plain(case)
    training = Training(case)
    training.run(3)
    milliseconds = training.timed(case.steps)
    seen, done = [0], threading.Event()

    def look() -> None:
        while not done.is_set():
            seen[0] = max(seen[0], device_memory_in_use())

    watcher = threading.Thread(target=look)
    watcher.start()
    training.run(4)
    done.set()
    watcher.join()
    del training
    gc.collect()
    with contextlib.suppress(AttributeError):
        torch._C._cuda_clearCublasWorkspaces()
    torch.cuda.synchronize()
    return {"ms": milliseconds, "seen": seen[0] - device_memory_in_use()}


def least(case: Case) -> dict[str, Any]:
    """The smallest limit that the largest op leaves, and the peak."""
    case.prepare()
    with ebb.observe(device=case.device):
        Training(case).run(2)
        return {"smallest_limit": ebb.smallest_limit(), "peak": ebb.status()["peak"]}


def planned(case: Case, limit: int, planner: str = "ebb", patience: float = 3, bits: bool = False, capture: bool | None = None, plans: str | None = None) -> dict[str, Any]:
    """Within a limit, once a plan is followed. Where that cannot be, `follows` is false and `refusal` says why."""
    case.prepare()
    start = time.perf_counter()
    ebb.limit(limit, device=case.device, planner=planner, capture=capture, plans=plans)
    answer: dict[str, Any] = {"limit": limit, "follows": False}
    training = None
    try:
        training = Training(case)
        training.run_until_planned()
        answer |= {"until_planned_s": time.perf_counter() - start, "follows": ebb.status()["now"] == "planned"}
        if answer["follows"]:
            answer |= _timed_by_plan(training, case.steps, patience)
    except ebb.OutOfMemory as error:
        return answer | {"follows": False, "refusal": str(error)}
    status = ebb.status()
    if case.device == "cuda":
        answer["device_memory"] = device_memory_in_use()
    answer |= {"steps": training.steps} | {name: status[name] for name in KEPT}
    return answer | ({"bits": training.bits()} if bits and answer["follows"] else {})


def _timed_by_plan(training: Training, steps: int, patience: float) -> dict[str, Any]:
    training.wait_for_better(patience)
    training.run(2)
    before = ebb.status()
    milliseconds = training.timed(steps)
    status = ebb.status()
    per_step = {f"{name}_per_step": (status[name] - before[name]) / steps for name in COUNTED}
    return {
        "ms": milliseconds,
        "fastest_ms": min(training.each),
        "slowest_ms": max(training.each),
        "predicted_ms": status["predicted_step_ns"] / 1e6,
        "follows": per_step["planned_iterations_per_step"] > 0.9,
        "predicted": status["predicted_step_ns"] / max(1, status["plain_step_ns"]),
        **per_step,
    }


def largest_plain(network: Network, cap: int, device: str, steps: int) -> dict[str, Any]:
    """The largest batch, to within 2 %, that trains in `cap` bytes of the caching allocator, and its step."""
    as_without_ebb()
    if device == "cuda":
        torch.cuda.init()
        torch.cuda.set_per_process_memory_fraction(min(1.0, cap / torch.cuda.get_device_properties(0).total_memory))
    case = lambda batch: Case(network, batch, device, steps)  # noqa: E731
    low, tried = network.probe, {}
    for batch in (low, 2 * low):
        tried[batch] = _attempt(case(batch), cap)
    if tried[low] is None:
        raise RuntimeError(f"{network.name}: not even a batch of {low} fits")
    if tried[2 * low] is None:
        high = 2 * low
    else:
        per_sample = max(1, (tried[2 * low]["reserved"] - tried[low]["reserved"]) // low)
        guess = 2 * low + max(0, cap - tried[2 * low]["reserved"]) // per_sample
        low, high = _bracket(case, cap, max(guess, 2 * low + 1), 2 * low)
    while high > low + 1 and high > CLOSE_ENOUGH * low:
        middle = (low + high) // 2
        if _attempt(case(middle), cap):
            low = middle
        else:
            high = middle
    found = _attempt(case(low), cap, timed=True)
    if found is None:
        raise RuntimeError(f"{network.name}: a batch of {low} fitted, and then did not")
    return {"batch": low, "does_not_fit": high, **found, "samples_per_s": 1e3 * low / found["ms"]}


def _bracket(case: Callable[[int], Case], cap: int, guess: int, low: int) -> tuple[int, int]:
    """A batch that fits and one that does not, close around a guess if it is good."""
    if _attempt(case(guess), cap):
        low, step = guess, 1.03
        while _attempt(case(int(low * step) + 1), cap):
            low, step = int(low * step) + 1, step * step
        return low, int(low * step) + 1
    high = guess
    for share in (0.97, 0.9, 0.75):
        batch = int(guess * share)
        if batch <= low:
            break
        if _attempt(case(batch), cap):
            return batch, high
        high = batch
    return low, high


def _attempt(case: Case, cap: int, timed: bool = False) -> dict[str, Any] | None:
    training = None
    try:
        with counted_memory(case.device) as most:
            training = Training(case)
            training.run(2)
            milliseconds = training.timed(case.steps) if timed else 0.0
            peak, reserved = most()
        if case.device == "cpu" and reserved > cap:
            return None
        return {"ms": milliseconds, "peak": peak, "reserved": reserved}
    except RuntimeError as error:
        if not any(word in str(error) for word in ("out of memory", "CUDNN_STATUS", "CUBLAS_STATUS", "unable to find an engine")):
            raise
        return None
    finally:
        del training
        gc.collect()
        if case.device == "cuda":
            torch.cuda.empty_cache()
