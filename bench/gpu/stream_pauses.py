#!/usr/bin/env python3
"""Does a step take as long on any CUDA stream, and wherever its tensors lie? Without Ebb.

A model's steps, free and behind a kernel that holds the device until the host has issued all of the step: what they take
then is the device's alone. On the default stream, on another, on one of high priority; and with the caching allocator's
memory in many pieces, in one, or in pages that grow (expandable segments). Each run is a forked child with a time-out.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from dataclasses import dataclass

from models import STRICT, as_without_ebb, deterministic, import_all
from planned import BATCH, Training

import torch

from harness import ChildFailed, in_child

GIB = 2**30
HELD_CYCLES = 500_000_000  # longer than the host takes for a step


@dataclass(frozen=True)
class Setting:
    """How a process trains: on which streams, one after the other (a number is a priority, None the default stream), and in what memory."""

    streams: tuple[int | None, ...] = (None,)
    allocator: str = ""  # settings of PyTorch's
    piece: float = 0  # GiB that are taken at once and given back to the allocator, which uses them first
    ballast: float = 0  # GiB that lie idle
    empties: bool = True  # gives memory back to the device before each stream
    at_once: bool = False  # the model is made on the first stream, too
    pool: bool = False  # the model lies in a pool of the allocator of its own
    waits: int = 0  # times that the stream waits for a copy to the host on another, before steps are timed


RUNS = {
    "default": Setting(),
    "another": Setting((0,)),
    "of high priority": Setting((-1,)),
    "default, another, default": Setting((None, 0, None)),
    "another, nothing given back": Setting((0,), empties=False),
    "another from the begin": Setting((0,), at_once=True),
    "another from the begin, default, a third": Setting((0, None, 0), at_once=True),
    "default, after waits for copies": Setting(waits=50),
    "default, the model in a pool of its own": Setting(pool=True),
    "expandable segments": Setting(allocator="expandable_segments:True"),
    "in one piece of 16 GiB": Setting(piece=16, empties=False),
    "in one piece of 20 GiB": Setting(piece=20, empties=False),
    "in one piece of 40 GiB": Setting(piece=40, empties=False),
    "behind 8 GiB": Setting(ballast=8),
}


def held(training: Training) -> float:
    torch.cuda.synchronize()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(HELD_CYCLES)
    begin.record()
    training.step()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end)


def wait_for_copies(times: int) -> None:
    """The current stream waits for an event that has not happened when its turn comes."""
    aside = torch.cuda.Stream()
    here, there = torch.empty(2**26, dtype=torch.uint8, device="cuda"), torch.empty(2**26, dtype=torch.uint8, pin_memory=True)
    for _ in range(times):
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            there.copy_(here, non_blocking=True)
        torch.cuda.current_stream().wait_stream(aside)
        here.add_(1)
    torch.cuda.synchronize()


def run(name: str, options: argparse.Namespace, setting: Setting) -> list[tuple[float, float, float]]:
    """Milliseconds of a step, free and held, and the GiB that the allocator has, on each stream."""
    as_without_ebb()
    deterministic(name in STRICT)
    if setting.allocator:
        torch.cuda.memory._set_allocator_settings(setting.allocator)
    if setting.piece:
        torch.empty(int(setting.piece * GIB), dtype=torch.uint8, device="cuda")
    ballast = torch.empty(int(setting.ballast * GIB), dtype=torch.uint8, device="cuda")
    make = lambda priority: torch.cuda.default_stream() if priority is None else torch.cuda.Stream(priority=priority)  # noqa: E731
    streams = [make(priority) for priority in setting.streams]
    pool = torch.cuda.MemPool()
    own_pool = torch.cuda.use_mem_pool(pool) if setting.pool else contextlib.nullcontext()
    with torch.cuda.stream(streams[0] if setting.at_once else torch.cuda.default_stream()), own_pool:
        training = Training(name, options)
    answers = []
    for stream in streams:
        torch.cuda.synchronize()
        if setting.empties:
            torch.cuda.empty_cache()
        with torch.cuda.stream(stream):
            training.run(3)
            wait_for_copies(setting.waits)
            answers.append((training.timed(options.steps), min(held(training) for _ in range(3)), torch.cuda.memory_reserved() / GIB))
    del ballast
    return answers


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", choices=list(BATCH), default="densenet121")
    parser.add_argument("--steps", type=int, default=8, help="that are timed")
    parser.add_argument("--batch", type=int, help="instead of the model's own")
    parser.add_argument("--precision", choices=["fp32", "bf16"], default="fp32", help="bf16: by autocast")
    parser.add_argument("--runs", nargs="+", choices=list(RUNS), default=list(RUNS), metavar="RUN", help="; ".join(RUNS))
    parser.add_argument("--timeout", type=float, default=60, help="seconds for one run")
    options = parser.parse_args()
    import_all([options.model])
    for what in options.runs:
        try:
            answers = in_child(run, options.model, options, RUNS[what], seconds=options.timeout)
        except ChildFailed as error:
            print(error, file=sys.stderr)
            return 1
        print(f"{what}: " + "; ".join(f"{free:.2f} ms a step, {behind:.2f} with the host ahead, {gib:.2f} GiB" for free, behind, gib in answers), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
